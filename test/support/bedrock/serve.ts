import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import { breakConnection, deliver, type Exchange, hang, sendGarbage } from '../provider/deliver.ts'
import { createJournal, type Ending, type Journal, type SeenRequest, trackSocket } from '../provider/journal.ts'
import type { Payload, PayloadScript } from '../provider/payload.ts'
import type { Rejection } from '../provider/rejection.ts'
import type { Script } from '../provider/script.ts'

/*
 * DESIGN. What the stand-ins for clouds have in common: a real HTTP server on loopback, whose requests are told apart by
 * the model in their path, so that tests that run at the same time each have a model of their own.
 *
 *   request ─▶ journal ─▶ understand ──refused──▶ the cloud's error
 *                           └─a call of a model─▶ script(request, nth) ─▶ the cloud's payload ─▶ delivery
 */

/** A request that the cloud takes. */
export interface ModelCall {
  /** As the path, or a token count's body, names it. */
  model: string
  action: 'json' | 'stream' | 'count'
  /** The request as the Messages API would have it. */
  body: JsonObject
}

/** What one cloud does in its own way. */
export interface Cloud {
  /** What a request asks for, or why it is refused. */
  understand(request: SeenRequest): ModelCall | { refused: Rejection & { name?: string } }
  payload(script: PayloadScript, call: ModelCall & { nth: number }): Payload
  refuse(refused: Rejection & { name?: string }): Payload
}

/** Chooses what happens to the nth valid request of a model (from 1); `undefined` is the default answer. */
export type Chooser = (request: SeenRequest, nth: number) => Script | undefined

/** A running stand-in. */
export interface CloudServer extends AsyncDisposable {
  /** Base address, without a slash at the end. */
  url: string
  /** The newest 1,000 requests, oldest first. */
  seen: readonly SeenRequest[]
  /** Requests that name a model, oldest first. */
  seenOf(model: string): readonly SeenRequest[]
  /** Sets what happens to the valid requests of a model. */
  reply(model: string, script: Script | Chooser): void
  /** Resolves once `condition` holds; looks after every change; rejects after ten seconds. */
  until(condition: () => boolean): Promise<void>
  close(): Promise<void>
}

const DEFAULT_WAIT_MS = 10_000

/** Starts a cloud on a free loopback port. */
export async function startCloud(cloud: Cloud): Promise<CloudServer> {
  const journal = createJournal()
  const scripts = new Map<string, { choose: Chooser; nth: number }>()
  const play = async (call: ModelCall, exchange: Exchange, request: SeenRequest) => {
    const scripted = scripts.get(call.model) ?? { choose: () => undefined, nth: 0 }
    const script = scripted.choose(request, ++scripted.nth) ?? { kind: 'answer' }
    if (script.kind === 'break') return breakConnection(script, exchange)
    if (script.kind === 'garbage') return sendGarbage(script, exchange)
    if (script.kind === 'hang') return hang(script, exchange)
    return deliver(cloud.payload(script, { ...call, nth: scripted.nth }), script, exchange)
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { entry, exchange } = open(request, response, journal)
    const isComplete = await readBody(request, entry)
    const call = isComplete ? cloud.understand(entry) : undefined
    if (call !== undefined && 'refused' in call) entry.refused = call.refused
    journal.record(entry)
    if (call === undefined) return
    if ('refused' in call) await deliver(cloud.refuse(call.refused), {}, exchange)
    else await play(call, exchange, entry)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      journal.failure ??= error
      response.destroy()
    })
  })
  server.on('connection', (socket) => trackSocket(socket, journal))
  server.keepAliveTimeout = 60_000 // an idle close must not race with a pooled connection's next request
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP
  const close = async () => {
    journal.isClosing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of journal.sockets) socket.destroy()
    await closed
    if (journal.failure !== undefined) throw journal.failure
  }
  return {
    url: `http://127.0.0.1:${port}`,
    seen: journal.seen,
    seenOf: (model) => journal.seen.filter(({ url }) => decodeURIComponent(url).includes(`/${model}`)),
    reply: (model, script) =>
      void scripts.set(model, { choose: typeof script === 'function' ? script : () => script, nth: 0 }),
    until: (condition) => journal.until(condition, DEFAULT_WAIT_MS),
    close,
    [Symbol.asyncDispose]: close,
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
