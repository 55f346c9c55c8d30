import { messageOfStream } from './message-of-stream.ts'
import { withoutPings } from './pings.ts'
import { BytesReply, type Reply, type ReplyHeaders } from './reply.ts'
import type { ReplyDialect } from './reply-dialect.ts'
import { storedStreamReply } from './stored-stream.ts'
import { streamOfMessage } from './stream-of-message.ts'
import type { Usage } from './usage.ts'

/**
 * A stored reply, in the bytes it was received in.
 *
 *   length of the head (4 bytes, big-endian) · head (JSON) · body
 */
export interface StoredReply {
  readonly kind: 'json' | 'stream'
  /** The name of the body's dialect. */
  readonly dialect: string
  /** Headers of the gateway about the reply: its model, dropped fields. */
  readonly facts: ReplyHeaders
  readonly usage: Usage | undefined
  readonly body: Buffer
}

/** The form in which a stored reply is requested. */
export interface WantedReply {
  /** The caller's own dialect. */
  readonly dialect: ReplyDialect
  readonly stream: boolean
}

const FACT_PREFIX = 'x-svc-'

/** Selects the headers of a reply that describe its content, and are sent again with it. */
export function factsOf(headers: ReplyHeaders): ReplyHeaders {
  const facts: ReplyHeaders = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && name.startsWith(FACT_PREFIX)) facts[name] = value
  }
  return facts
}

/**
 * Returns the entry of a JSON reply; `undefined` unless it is a success and a message: a 200 can be a proxy's page, an error
 * in disguise, or truncated. `headers`: those of the reply, from before a plugin may have added to them.
 */
export function storedOfBytes(reply: BytesReply, headers = reply.headers): StoredReply | undefined {
  const { usage, bytes: body } = reply
  if (reply.status !== 200 || usage === undefined || !reply.isWhole) return undefined
  return { kind: 'json', dialect: reply.dialect.name, facts: factsOf(headers), usage, body }
}

const LENGTH_BYTES = 4

/**
 * Packs an entry for the store, a stream without its pings, in memory of its own: a slice of Node's pool would keep the
 * whole pool alive.
 */
export function packReply({ body: whole, ...rest }: StoredReply): Buffer {
  const body = rest.kind === 'stream' ? withoutPings(whole) : whole
  const head = JSON.stringify(rest)
  const headBytes = Buffer.byteLength(head)
  const bodyStart = LENGTH_BYTES + headBytes
  const packed = Buffer.allocUnsafeSlow(bodyStart + body.length)
  packed.writeUInt32BE(headBytes)
  packed.write(head, LENGTH_BYTES)
  body.copy(packed, bodyStart)
  return packed
}

/** Unpacks an entry; `undefined` when the bytes are no entry (an older version's, say). */
export function unpackReply(bytes: Buffer): StoredReply | undefined {
  try {
    const bodyStart = LENGTH_BYTES + bytes.readUInt32BE(0)
    const { kind, dialect, facts, usage } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, bodyStart))
    if ((kind !== 'json' && kind !== 'stream') || typeof dialect !== 'string') return undefined
    return { kind, dialect, facts, usage, body: bytes.subarray(bodyStart) }
  } catch {
    return undefined
  }
}

/**
 * Returns the reply for a caller who requested a stream or JSON, whichever way the entry was stored: the stored bytes when
 * the two agree, else a translation. `undefined` when a stored stream has no JSON form, or when the entry is in a
 * dialect of its own and of the other kind.
 */
export function replyFromStored(entry: StoredReply, wanted: WantedReply): Reply | undefined {
  const isOwn = entry.dialect === wanted.dialect.name
  if (!isOwn && entry.dialect !== 'messages') return undefined
  const body = bodyFor(entry, wanted.stream)
  if (body === undefined) return undefined
  const options = { usage: entry.usage, dialect: isOwn ? wanted.dialect : undefined }
  if (!wanted.stream) return new BytesReply(200, { ...JSON_HEADERS, ...entry.facts }, body, options)
  return storedStreamReply(body, { ...STREAM_HEADERS, ...entry.facts }, options)
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

function bodyFor({ kind, dialect, body }: StoredReply, wantsStream: boolean): Buffer | undefined {
  if ((kind === 'stream') === wantsStream) return body
  if (dialect !== 'messages') return undefined
  return wantsStream ? streamOfMessage(body) : messageOfStream(body)
}
