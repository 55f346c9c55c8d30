import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, parseJson } from '../json.ts'
import { checkRequest, type RequestRules, routeOf } from './check-request.ts'
import { breakConnection, deliver, type Exchange, hang, sendGarbage } from './deliver.ts'
import type { Ending, Journal, SeenRequest } from './journal.ts'
import { type PayloadContext, toPayload } from './payload.ts'
import type { Script } from './script.ts'

/** What `serve` needs to know of the stand-in. */
export interface Serving {
  journal: Journal
  rules: RequestRules & { acceptAnything?: boolean }
  /** Number of requests so far, this one included. */
  count(): number
  /** Asked once for each valid request. */
  script(request: SeenRequest): Script | undefined
}

/** Reads a request, records it, judges it and answers it. Returns when the response has ended. */
export async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { journal, rules } = serving
  const { entry, exchange } = open(request, response, journal)
  const nth = serving.count()
  const isComplete = await readBody(request, entry)
  entry.refused = isComplete && !rules.acceptAnything ? checkRequest(entry, rules) : undefined
  journal.record(entry)
  if (!isComplete) return
  const requestId = `req_01StandIn${String(nth).padStart(15, '0')}`
  response.setHeader('request-id', requestId)
  response.setHeader('anthropic-ratelimit-requests-limit', '4000')
  response.setHeader('anthropic-ratelimit-requests-remaining', '3999')
  const context = { body: entry.json ?? {}, nth, route: routeOf(entry), url: entry.url, requestId }
  const script: Script = entry.refused
    ? { kind: 'error', ...entry.refused }
    : (serving.script(entry) ?? { kind: 'answer' })
  await play(script, exchange, rules.models ? { ...context, models: rules.models } : context)
}

async function play(script: Script, exchange: Exchange, context: PayloadContext): Promise<void> {
  switch (script.kind) {
    case 'break':
      return breakConnection(script, exchange)
    case 'garbage':
      return sendGarbage(script, exchange)
    case 'hang':
      return hang(script, exchange)
    default:
      return deliver(toPayload(script, context), script, exchange)
  }
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
