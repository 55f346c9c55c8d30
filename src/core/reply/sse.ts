/**
 * DESIGN — server-sent events (WHATWG HTML, section 9.2)
 *
 *   provider's chunks ──► EventFramer ──► portions of whole events ──► the client
 *                                                    └──► scanEvents ──► listeners
 *
 * Guarantees
 * - Portions, followed by `rest()`, are the input byte for byte.
 * - A portion ends right after a blank line, with any of the three line ends: events of the gateway may follow.
 * - The same events are found however the chunks are cut.
 * - A chunk that holds whole events is passed on as it is; a big event in small chunks is searched and copied once.
 * Limits: an event that outgrows `maxHeldBytes` is released in chunks and sets `torn`: nothing may be inserted then.
 * A blank line of `\r\n` cut between its two bytes ends at the `\r`; the late `\n` counts as one more blank line,
 * which a parser ignores. Waiting for it would hold back the last event of a stream that ends its lines with `\r`.
 */

import { ChunkBuffer } from './chunk-buffer.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COLON = 0x3a

const MAX_HELD_BYTES = 16 * 1024 * 1024
const LF_LF = Buffer.from('\n\n')
const LF_CR = Buffer.from('\n\r')
const CR_CR = Buffer.from('\r\r')

/** Turns an arbitrarily cut stream of bytes into portions that consist of whole events only. */
export class EventFramer {
  readonly #maxHeldBytes: number
  readonly #held = new ChunkBuffer()
  /** The byte before the next chunk. An event's start counts as the start of a line. */
  #before = LF
  #torn = false

  /** `maxHeldBytes`: how much of an unfinished event is held back, in bytes; beyond it the event is released unfinished. */
  constructor({ maxHeldBytes = MAX_HELD_BYTES }: { maxHeldBytes?: number } = {}) {
    this.#maxHeldBytes = maxHeldBytes
  }

  /** True if the last portion ended inside an event that was too big to hold: nothing may be inserted after it. */
  get torn(): boolean {
    return this.#torn
  }

  /** Returns the whole events that `chunk` completes, or `undefined` when it completes none. May return `chunk` itself. */
  push(chunk: Buffer): Buffer | undefined {
    const cut = lastEventEnd(chunk, this.#before)
    if (cut === 0) return this.#hold(chunk)
    const complete = cut === chunk.length ? chunk : chunk.subarray(0, cut)
    const portion = this.#held.bytes === 0 ? complete : this.#held.take(complete)
    this.#torn = false
    this.#before = LF
    if (cut < chunk.length) return this.#holdAfter(portion, chunk.subarray(cut))
    return portion
  }

  /** Returns the held-back beginning of an event whose end did not arrive, and empties the framer. */
  rest(): Buffer {
    return this.#held.take()
  }

  #holdAfter(portion: Buffer, tail: Buffer): Buffer {
    const excess = this.#hold(tail)
    return excess === undefined ? portion : Buffer.concat([portion, excess])
  }

  #hold(tail: Buffer): Buffer | undefined {
    if (tail.length === 0) return undefined
    this.#held.add(tail)
    this.#before = tail[tail.length - 1] ?? LF
    if (this.#held.bytes <= this.#maxHeldBytes) return undefined
    this.#torn = true
    return this.#held.take()
  }
}

/** Returns the end of the last whole event of `chunk`, 0 for none; `before` is the byte in front of the chunk. */
function lastEventEnd(chunk: Buffer, before: number): number {
  const { length } = chunk
  if (length > 1 && chunk[length - 1] === LF && chunk[length - 2] === LF) return length
  const end = chunk.indexOf(CR) === -1 ? after(chunk, LF_LF) : lastOfAnyEnd(chunk)
  return end > 0 ? end : seamEnd(chunk, before)
}

function lastOfAnyEnd(chunk: Buffer): number {
  return Math.max(after(chunk, LF_LF), withLateLf(chunk, after(chunk, LF_CR)), withLateLf(chunk, after(chunk, CR_CR)))
}

/** Returns the end of the last `pair` of line ends in `chunk`, or 0. */
function after(chunk: Buffer, pair: Buffer): number {
  const at = chunk.lastIndexOf(pair)
  return at === -1 ? 0 : at + pair.length
}

/** Returns `end`, or one more where the `\r` before it belongs to a `\r\n`. */
function withLateLf(chunk: Buffer, end: number): number {
  return end > 0 && chunk[end] === LF ? end + 1 : end
}

/** Returns the end of a blank line whose preceding line end is in the chunk before, or 0. */
function seamEnd(chunk: Buffer, before: number): number {
  const first = chunk[0]
  if (first === LF) return before === LF ? 1 : 0
  if (first === CR) return before === LF || before === CR ? withLateLf(chunk, 1) : 0
  return 0
}

/**
 * Visitor of one event: its name, its data as the bytes of `source` from `dataStart` to `dataEnd`, and the offset after
 * the event's blank line in the portion.
 */
export type EventVisitor = (name: string, source: Buffer, dataStart: number, dataEnd: number, eventEnd: number) => void

const DEFAULT_NAME = 'message'
const EVENT = Buffer.from('event')
const DATA = Buffer.from('data')
const LINE_FEED = Buffer.of(LF)
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Names that are recognised without creating a string. */
const KNOWN_NAMES = [
  'content_block_delta',
  'content_block_start',
  'content_block_stop',
  'message_start',
  'message_delta',
  'message_stop',
  'ping',
  'error',
].map((name) => ({ name, bytes: Buffer.from(name) }))

/**
 * Calls `visit` for every whole event of `portion`, in order. Data is neither copied nor decoded, except that the lines
 * of multi-line data are joined by `\n` into a buffer of their own, which is then the visitor's `source`.
 * Comments, other fields and events without data are skipped, and so is an event whose blank line is missing.
 */
export function scanEvents(portion: Buffer, visit: EventVisitor): void {
  const { length } = portion
  let name = DEFAULT_NAME
  let dataStart = -1
  let dataEnd = -1
  let moreLines: Buffer[] | undefined
  let nextLf = -1
  let nextCr = -1
  for (let at = 0; at < length; ) {
    const first = portion[at]
    if (first === LF || first === CR) {
      at = lineAfter(portion, at)
      if (moreLines !== undefined) {
        const data = Buffer.concat([portion.subarray(dataStart, dataEnd), ...moreLines])
        visit(name, data, 0, data.length, at)
      } else if (dataStart !== -1) visit(name, portion, dataStart, dataEnd, at)
      name = DEFAULT_NAME
      dataStart = -1
      moreLines = undefined
      continue
    }
    // Both ends are kept: a portion that has only one kind is searched to its end for the other once.
    if (nextLf < at) nextLf = indexOrEnd(portion, LF, at)
    if (nextCr < at) nextCr = indexOrEnd(portion, CR, at)
    const end = Math.min(nextLf, nextCr)
    const start = startsWith(portion, at, BYTE_ORDER_MARK) ? at + BYTE_ORDER_MARK.length : at
    const dataAt = valueStart(portion, start, end, DATA)
    if (dataAt === -1) {
      const nameAt = valueStart(portion, start, end, EVENT)
      if (nameAt !== -1) name = nameOf(portion, nameAt, end)
    } else if (dataStart === -1) {
      dataStart = dataAt
      dataEnd = end
    } else {
      moreLines ??= []
      moreLines.push(LINE_FEED, portion.subarray(dataAt, end))
    }
    at = lineAfter(portion, end)
  }
}

function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}

function lineAfter(bytes: Buffer, end: number): number {
  return bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1
}

/** Returns the start of the value of the line's `field`, or -1 when the line has another field. */
function valueStart(bytes: Buffer, start: number, end: number, field: Buffer): number {
  if (!startsWith(bytes, start, field)) return -1
  const at = start + field.length
  if (at === end) return end
  if (bytes[at] !== COLON) return -1
  return bytes[at + 1] === SPACE ? at + 2 : at + 1
}

function startsWith(bytes: Buffer, start: number, prefix: Buffer): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false
  return true
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  const length = end - start
  if (length === 0) return DEFAULT_NAME
  for (const known of KNOWN_NAMES) {
    if (known.bytes.length === length && startsWith(bytes, start, known.bytes)) return known.name
  }
  return bytes.toString('utf8', start, end)
}

/** Prints an event with its type as its name, ready to be sent. */
export function printEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Prints an event of any data, line by line; an event without a name of its own gets none. */
export function printRawEvent({ name, data }: { readonly name: string; readonly data: string }): string {
  const lines = data.split(/\r\n|[\r\n]/).map((line) => `data: ${line}\n`)
  return `${name === DEFAULT_NAME ? '' : `event: ${name}\n`}${lines.join('')}\n`
}
