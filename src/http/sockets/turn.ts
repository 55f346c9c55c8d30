import { type IncomingMessage, type OutgoingHttpHeaders, type Server, request as startRequest } from 'node:http'
import { duplexPair } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { EventFramer, scanEvents } from '../../core/reply/sse.ts'

/** Largest event: the last one repeats the whole response, of at most 64 MB, with its request. */
const MOST_EVENT_BYTES = 256 * 1024 * 1024
const DONE = '[DONE]'
/** Headers of an upgrade that are about its connection alone. */
const OF_CONNECTION =
  /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|expect|keep-alive|te|trailer)$/

/** Receives the reply of a turn. */
export interface TurnSink {
  /** Receives the data of one event; returns false to be asked to wait until `resume`. */
  event(name: string, data: string): boolean
  /** Receives a reply that is no stream. */
  reply(status: number, headers: IncomingMessage['headers'], body: Buffer): void
  /** Called once, at last; with an error where the reply broke off. */
  end(error?: Error): void
}

/** A running turn. */
export interface RunningTurn {
  /** Goes on after `event` has returned false. */
  resume(): void
  /** Abandons the turn, as a client that disconnects. */
  abort(): void
}

/**
 * Sends a body as an HTTP request of its own to this server, over a pair of streams in memory: it passes authentication, limits,
 * plugins, log and receipts like any other request, and its end is that of its connection.
 */
export function startTurn(
  server: Server,
  { upgrade, path, body }: { upgrade: IncomingMessage; path: string; body: Buffer },
  sink: TurnSink,
): RunningTurn {
  const [near, far] = duplexPair()
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
  far.on('error', () => {})
  Object.defineProperty(far, 'remoteAddress', { value: upgrade.socket.remoteAddress })
  server.emit('connection', far)
  let hasEnded = false
  const end = (error?: Error) => {
    if (hasEnded) return
    hasEnded = true
    near.destroy()
    sink.end(error)
  }
  let response: IncomingMessage | undefined
  const headers = headersOf(upgrade, body)
  const request = startRequest({ createConnection: () => near, method: 'POST', path, headers })
  request.once('error', end)
  request.once('response', (received) => {
    response = received
    receive(received, sink).then(() => end(), end)
  })
  request.end(body)
  return { resume: () => void response?.resume(), abort: () => near.destroy() }
}

/** Returns the headers of a turn: those of the upgrade, without what is about its connection. */
function headersOf({ headers }: IncomingMessage, body: Buffer): OutgoingHttpHeaders {
  const own = Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name))
  return {
    ...Object.fromEntries(own),
    connection: 'close',
    accept: 'text/event-stream',
    'content-type': 'application/json',
    'content-length': body.length,
  }
}

async function receive(response: IncomingMessage, sink: TurnSink): Promise<void> {
  const { statusCode: status = 0, headers } = response
  const isStream = status === 200 && (headers['content-type'] ?? '').startsWith('text/event-stream')
  if (!isStream) return sink.reply(status, headers, await buffer(response))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const framer = new EventFramer({ maxHeldBytes: MOST_EVENT_BYTES })
  response.on('data', (chunk: Buffer) => {
    const portion = framer.push(chunk)
    if (portion === undefined) return
    scanEvents(portion, (name, source, start, end) => {
      const data = source.toString('utf8', start, end)
      if (data.trim() !== DONE && !sink.event(name, data)) response.pause()
    })
  })
  response.once('end', resolve)
  response.once('error', reject)
  return promise
}
