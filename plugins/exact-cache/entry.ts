import {
  BytesReply,
  messageOfStream,
  type Reply,
  storedStreamReply,
  streamOfMessage,
  type Usage,
} from 'turnpike/plugin'

/**
 * A stored reply, in the bytes it came in.
 *
 *   length of the head (4 bytes, big-endian) · head (JSON) · body
 */
export interface Entry {
  readonly kind: 'json' | 'stream'
  readonly usage: Usage | undefined
  readonly body: Buffer
}

const LENGTH_BYTES = 4

/** Packs an entry for the store, in memory of its own: a slice of Node's pool would keep the whole pool alive. */
export function packEntry({ kind, usage, body }: Entry): Buffer {
  const head = Buffer.from(JSON.stringify({ kind, usage }))
  const bodyStart = LENGTH_BYTES + head.length
  const packed = Buffer.allocUnsafeSlow(bodyStart + body.length)
  packed.writeUInt32BE(head.length)
  head.copy(packed, LENGTH_BYTES)
  body.copy(packed, bodyStart)
  return packed
}

/** Unpacks an entry; `undefined` when the bytes are not one (an older version's, say). */
export function unpackEntry(bytes: Buffer): Entry | undefined {
  try {
    const bodyStart = LENGTH_BYTES + bytes.readUInt32BE(0)
    const { kind, usage } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, bodyStart))
    if (kind !== 'json' && kind !== 'stream') return undefined
    return { kind, usage, body: bytes.subarray(bodyStart) }
  } catch {
    return undefined
  }
}

/**
 * The reply to a caller who asked for a stream or for JSON, whichever way the entry was stored: the stored bytes when
 * the two agree, else a translation. `undefined` when a stored stream cannot be told as JSON.
 */
export function replyFromEntry({ kind, usage, body }: Entry, wantsStream: boolean): Reply | undefined {
  if (wantsStream) {
    return storedStreamReply(
      kind === 'stream' ? body : streamOfMessage(body),
      { 'content-type': 'text/event-stream; charset=utf-8' },
      usage,
    )
  }
  const json = kind === 'json' ? body : messageOfStream(body)
  return json && new BytesReply(200, { 'content-type': 'application/json' }, json, usage)
}
