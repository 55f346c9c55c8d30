/** A message of PostgreSQL's protocol: a letter, four bytes of length, and the rest. */
export interface Message {
  readonly type: string
  /** All of it. */
  readonly bytes: Buffer
}

const TYPE_BYTES = 1
const LENGTH_BYTES = 4

/** Takes whole messages off the front of `bytes`; what is left is the beginning of another one. */
export function takeMessages(bytes: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = []
  let at = 0
  while (bytes.length - at >= TYPE_BYTES + LENGTH_BYTES) {
    const end = at + TYPE_BYTES + bytes.readUInt32BE(at + TYPE_BYTES)
    if (end > bytes.length) break
    messages.push({ type: String.fromCharCode(bytes.readUInt8(at)), bytes: bytes.subarray(at, end) })
    at = end
  }
  return { messages, rest: bytes.subarray(at) }
}

/** Makes a message. */
export function messageOf(type: string, ...parts: readonly (string | number)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : int32(part))))
  return Buffer.concat([Buffer.from(type), int32(body.length + LENGTH_BYTES), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeInt32BE(value)
  return bytes
}
