import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { resetSocket } from '../reset-socket.ts'
import type { Payload } from './payload.ts'
import type { BreakScript, Delivery, GarbageScript, HangScript, Pause, Writes } from './script.ts'
import { createSink } from './sink.ts'

/** An exchange whose reply is being sent. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** Aborted, and resolved, when the connection is closed: by the client, by a script, or by `close()`. */
  gone: AbortSignal
  left: Promise<void>
  /** Records that the script, not the client, ends the connection. */
  markCut(): void
}

const HALF_A_HEADER = 'HTTP/1.1 200 OK\r\ncontent-type: applica'
const GARBAGE = Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0x00, 0x0d, 0x0a, 0x0d, 0x0a])
const DEFAULT_MOST_WRITES = 2000

/** Sends a payload as `delivery` defines. Returns when all is sent, cut, or the client has disconnected. */
export async function deliver(payload: Payload, delivery: Delivery, exchange: Exchange): Promise<void> {
  const { response, gone, left } = exchange
  const { writes, encoding, cutAfterBytes } = delivery
  await pause(delivery.before, exchange)
  if (gone.aborted) return
  response.writeHead(payload.status, { ...payload.headers, ...(encoding ? { 'content-encoding': encoding } : {}) })
  const sink = createSink(response, left, encoding)
  if (writes) response.flushHeaders()
  const pieces = toPieces(payload.body, writes, cutAfterBytes)
  if (writes?.hold && writes.hold.index >= pieces.length)
    throw new RangeError(
      `Expected more than ${writes.hold.index} writes, of which one is held; the body has ${pieces.length}`,
    )
  for (const [index, piece] of pieces.entries()) {
    await pause(pauseBefore(index, writes), exchange)
    if (gone.aborted) return
    await sink.write(piece)
  }
  if (cutAfterBytes !== undefined) cut(exchange)
  else await sink.end()
}

type ConnectionFault = BreakScript | GarbageScript | HangScript
/** Scripts that are answered with a payload. */
export type Answered<Script extends { kind: string }> = Exclude<Script, ConnectionFault>

/** Plays a script: a fault of the connection, or the payload that `toPayload` makes of it. Returns when the response has ended. */
export async function play<Script extends { kind: string }>(
  script: Script | ConnectionFault,
  exchange: Exchange,
  toPayload: (script: Answered<Script>) => Payload & { readonly writes?: Writes | undefined },
): Promise<void> {
  if (isFault(script, 'break')) return breakConnection(script, exchange)
  if (isFault(script, 'garbage')) return sendGarbage(script, exchange)
  if (isFault(script, 'hang')) return hang(script, exchange)
  // Safe: no other kinds of faults are left.
  const answered = script as Answered<Script> & Delivery
  const { writes, ...payload } = toPayload(answered)
  return deliver(payload, writes === undefined ? answered : { ...answered, writes }, exchange)
}

function isFault<Kind extends ConnectionFault['kind']>(
  script: { kind: string },
  kind: Kind,
): script is Extract<ConnectionFault, { kind: Kind }> {
  return script.kind === kind
}

/** Breaks the connection before or within the header lines. */
export async function breakConnection(script: BreakScript, exchange: Exchange): Promise<void> {
  await pause(script.before, exchange)
  exchange.markCut()
  const { socket } = exchange.request
  if (script.at === 'before-headers') resetSocket(socket)
  else socket.write(HALF_A_HEADER, () => socket.destroy())
}

/** Answers with bytes that are not HTTP. */
async function sendGarbage(script: GarbageScript, exchange: Exchange): Promise<void> {
  exchange.markCut()
  const { socket } = exchange.request
  socket.write(script.bytes ?? GARBAGE, () => socket.destroy())
}

/** Sends nothing, or the headers of a stream and nothing more, until the connection is closed. */
export async function hang(script: HangScript, { response, left }: Exchange): Promise<void> {
  if (script.at === 'after-headers') {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.flushHeaders()
  }
  await left
}

function cut({ request, response, markCut }: Exchange): void {
  markCut()
  if (!response.headersSent) response.flushHeaders()
  request.socket.destroy()
}

async function pause(script: Pause | undefined, { gone, left }: Exchange): Promise<void> {
  if (script?.delayMs) await sleep(script.delayMs, undefined, { signal: gone }).catch(() => {})
  if (script?.until) await Promise.race([script.until, left])
}

function pauseBefore(index: number, writes: Writes | undefined): Pause | undefined {
  if (writes?.hold?.index === index) return writes.hold
  if (typeof writes?.between === 'function') return writes.between(index)
  return index > 0 ? writes?.between : undefined
}

function toPieces(body: Buffer, writes: Writes | undefined, cutAfterBytes: number | undefined): Buffer[] {
  const end = Math.min(cutAfterBytes ?? body.length, body.length)
  const pieces: Buffer[] = []
  let start = 0
  while (start < end) {
    const isLast = pieces.length >= (writes?.atMost ?? DEFAULT_MOST_WRITES)
    const next = isLast ? end : Math.min(end, nextCut(body, start, pieces.length, writes))
    pieces.push(body.subarray(start, next))
    start = next
  }
  return pieces
}

function nextCut(body: Buffer, start: number, index: number, writes: Writes | undefined): number {
  if (!writes) return body.length
  if (writes.sizes === 'events') {
    const blank = body.indexOf('\n\n', start)
    return blank < 0 ? body.length : blank + 2
  }
  const size = writes.sizes[index % writes.sizes.length] ?? body.length
  if (size < 1) throw new RangeError(`Expected write sizes of at least 1 byte, got ${size}`)
  return start + size
}
