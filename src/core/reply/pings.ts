/**
 * DESIGN — pings are not stored
 *
 * A provider fills a silence with `ping` events, or with comments where its dialect has no such event. They are relayed as
 * they arrive and are meaningless later: a stream is stored without them, and a replay has none.
 */
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
/** A ping's line: its event name, or data with the type alone. */
const PING_LINE = /^(?:event: ?ping|data: ?\{\s*"type"\s*:\s*"ping"\s*\})$/
const LONGEST_PING_LINE = 64

/** Returns a stored stream without its pings and comments; the same buffer if it has none. Other bytes are unchanged. */
export function withoutPings(bytes: Buffer): Buffer {
  if (!bytes.includes('ping') && !hasComment(bytes)) return bytes
  const kept: Buffer[] = []
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const block = blockAt(bytes, at)
    if (block.isPing) {
      kept.push(bytes.subarray(from, at))
      from = block.end
    }
    at = block.end
  }
  return from === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(from)])
}

function hasComment(bytes: Buffer): boolean {
  return bytes[0] === COLON || bytes.includes('\n:') || bytes.includes('\r:')
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
