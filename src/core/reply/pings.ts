/**
 * DESIGN — pings are not stored
 *
 * A provider fills a silence with `ping` events, or with comments where its dialect has no such event. They are relayed as
 * they arrive and are meaningless later: a stream is stored without them, and a replay has none.
 */
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const BLANK_LINE = Buffer.from('\n\n')
const PING = Buffer.from('ping')
const COMMENT = Buffer.from('\n:')
/** A ping's line: its event name, or data with the type alone. */
const PING_LINE = /^(?:event: ?ping|data: ?\{\s*"type"\s*:\s*"ping"\s*\})$/
const LONGEST_PING_LINE = 64

/** Returns a stored stream without its pings and comments; the same buffer if it has none. Other bytes are unchanged. */
export function withoutPings(bytes: Buffer): Buffer {
  const candidates = new Candidates(bytes)
  const kept: Buffer[] = []
  let from = 0
  for (let at = candidates.blockFrom(0); at < bytes.length; ) {
    const block = blockAt(bytes, at)
    if (block.isPing) {
      kept.push(bytes.subarray(from, at))
      from = block.end
    }
    at = candidates.blockFrom(block.end)
  }
  return from === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(from)])
}

/** The blocks of a stream that can be pings or comments, found by searches: reading each line costs ten times as much. */
class Candidates {
  readonly #bytes: Buffer
  /** With carriage returns a blank line has several forms: every block is a candidate. */
  readonly #isSearched: boolean
  #ping = -1
  #comment = -1

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#isSearched = !bytes.includes(CR)
  }

  /** Returns the start of the first candidate at or after `at`, where a block starts; the length of the bytes if there is none. */
  blockFrom(at: number): number {
    if (!this.#isSearched) return at
    const bytes = this.#bytes
    if (this.#ping < at) this.#ping = orEnd(bytes, bytes.indexOf(PING, at))
    if (this.#comment < at) this.#comment = bytes[at] === COLON ? at : orEnd(bytes, bytes.indexOf(COMMENT, at))
    const hit = Math.min(this.#ping, this.#comment)
    if (hit >= bytes.length) return bytes.length
    const blank = bytes.lastIndexOf(BLANK_LINE, hit)
    return blank < at ? at : blank + BLANK_LINE.length
  }
}

function orEnd(bytes: Buffer, found: number): number {
  return found < 0 ? bytes.length : found
}

/** Returns the event or comments from `start` to after its blank line; bytes without a blank line are one block, no ping. */
function blockAt(bytes: Buffer, start: number): { end: number; isPing: boolean } {
  let isNamed = false
  let hasFields = false
  let hasComments = false
  for (let at = start; at < bytes.length; ) {
    const end = lineEnd(bytes, at)
    const next = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1
    if (end === at) return { end: Math.min(next, bytes.length), isPing: isNamed || (hasComments && !hasFields) }
    if (bytes[at] === COLON) hasComments = true
    else hasFields = true
    if (end - at <= LONGEST_PING_LINE && PING_LINE.test(bytes.toString('latin1', at, end))) isNamed = true
    at = next
  }
  return { end: bytes.length, isPing: false }
}

function lineEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at
  return bytes.length
}
