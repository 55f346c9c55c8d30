import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, parseJson } from '../json.ts'
import { breakConnection, deliver, type Exchange, hang, sendGarbage } from '../provider/deliver.ts'
import type { Ending, Journal, SeenRequest } from '../provider/journal.ts'
import type { Delivery } from '../provider/script.ts'
import { checkRequest, type GeminiRules, routeOf } from './check-request.ts'
import { type GeminiPayloadContext, toPayload } from './payload.ts'
import type { GeminiScript } from './script.ts'

/** What `serve` needs to know of the stand-in. */
export interface GeminiServing {
  journal: Journal
  rules: GeminiRules
  /** Number of requests so far, this one included. */
  count(): number
  /** Asked once for each valid request. */
  script(request: SeenRequest): GeminiScript | undefined
}

/** Reads a request, records it, judges it and answers it. Returns when the response has ended. */
export async function serve(request: IncomingMessage, response: ServerResponse, serving: GeminiServing): Promise<void> {
  const { journal, rules } = serving
  const { entry, exchange } = open(request, response, journal)
  const nth = serving.count()
  const isComplete = await readBody(request, entry)
  entry.refused = isComplete ? checkRequest(entry, rules) : undefined
  journal.record(entry)
  if (!isComplete) return
  const route = routeOf(entry)
  const context = {
    body: entry.json ?? {},
    nth,
    route,
    model: route?.model ?? '',
    url: entry.url,
    models: rules.models,
  }
  const script: GeminiScript = entry.refused
    ? { kind: 'error', ...entry.refused }
    : (serving.script(entry) ?? { kind: 'answer' })
  await play(script, exchange, context)
}

async function play(script: GeminiScript, exchange: Exchange, context: GeminiPayloadContext): Promise<void> {
  switch (script.kind) {
    case 'break':
      return breakConnection(script, exchange)
    case 'garbage':
      return sendGarbage(script, exchange)
    case 'hang':
      return hang(script, exchange)
    default: {
      const payload = toPayload(script, context)
      return deliver(payload, { ...script, ...toWrites(script, payload.body) }, exchange)
    }
  }
}

/** Delivery cuts events at `\n\n`, which Google's streams do not have, so the sizes of the events are given. */
function toWrites({ writes }: Delivery, body: Buffer): Pick<Delivery, 'writes'> {
  if (writes?.sizes !== 'events') return {}
  const events = body.toString('latin1').split(/(?<=\r\n\r\n|\n\n)/)
  return { writes: { ...writes, sizes: events.map(({ length }) => length) } }
}

function open(request: IncomingMessage, response: ServerResponse, journal: Journal) {
  const gone = new AbortController()
  const { promise: closed, resolve } = Promise.withResolvers<Ending>()
  let isCut = false
  const { method = '', url = '', headers, rawHeaders } = request
  const blank = { raw: Buffer.alloc(0), json: undefined, refused: undefined, ended: 'open' as const, closed }
  const entry: SeenRequest = { method, url, headers, rawHeaders, ...blank }
  journal.pending++
  response.once('close', () => {
    if (response.writableFinished) entry.ended = 'finished'
    else entry.ended = isCut || journal.isClosing ? 'cut' : 'client-left'
    journal.pending--
    gone.abort()
    resolve(entry.ended)
    journal.changed()
  })
  const markCut = () => {
    isCut = true
  }
  const exchange: Exchange = { request, response, gone: gone.signal, left: closed.then(() => {}), markCut }
  return { entry, exchange }
}

/** Reads the whole body into the entry; false when the client left before its end. */
async function readBody(request: IncomingMessage, entry: SeenRequest): Promise<boolean> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    // the client left: what has come is kept
  }
  entry.raw = Buffer.concat(chunks)
  const json = parseJson(entry.raw.toString())
  entry.json = isJsonObject(json) ? json : undefined
  return request.complete
}
