import { messageOfStream } from '../reply/message-of-stream.ts'
import { createMessagesPartReader } from '../reply/messages-parts.ts'
import { BytesReply, type Reply, type ReplyHeaders } from '../reply/reply.ts'
import { streamOfMessage } from '../reply/stream-of-message.ts'
import { createEventRewriter, createTranslatedRewriter, type MapEvent } from './event-rewriter.ts'
import { spliced, textOf } from './held-event.ts'
import { createPartRewriter } from './part-rewriter.ts'
import { type OnRewriteFailure, rewrittenStream } from './rewritten-stream.ts'
import type { PartMap } from './text-map.ts'

/** Headers that describe the bytes of the reply: a rewritten one has others. */
const OF_BYTES = new Set(['etag', 'content-md5', 'digest', 'content-digest', 'repr-digest'])

/**
 * Returns the reply with parts of it rewritten, in its own dialect; errors stay unchanged. A stream is rewritten as it
 * flows. Throws the error of `map` for a JSON reply.
 */
export function withParts(reply: Reply, map: PartMap, onFailure: OnRewriteFailure): Reply {
  if (reply.status !== 200) return reply
  const { dialect } = reply
  const { partsOf, createPartReader } = dialect
  const headers = withoutDigests(reply.headers)
  if (partsOf === undefined || createPartReader === undefined) return withPartsOfMessage(reply, map, onFailure)
  if (reply.kind === 'stream') {
    const rewriter = createPartRewriter(createPartReader(), map)
    return rewrittenStream(reply, { rewriter, onFailure, headers, dialect })
  }
  const json = reply.bytes.toString('latin1')
  const replacements = partsOf(json)
    .filter(({ kind }) => map.kinds.has(kind))
    .map((part) => ({ part, before: textOf(json, part) }))
    .map(({ part, before }) => ({ part, before, ...map.map(before, { before: '', isLast: true, tool: part.tool }) }))
    .filter(({ text, before }) => text !== before)
  if (replacements.length === 0) return reply
  const { status, usage } = reply
  return new BytesReply(status, headers, Buffer.from(spliced(json, replacements), 'latin1'), { usage, dialect })
}

/** Rewrites a reply in the canonical dialect; a JSON reply without a changed part stays as it is. */
function withPartsOfMessage(reply: Reply, map: PartMap, onFailure: OnRewriteFailure): Reply {
  const { dialect } = reply
  if (reply.kind === 'stream') {
    const inner = createPartRewriter(createMessagesPartReader(), map)
    const rewriter = createTranslatedRewriter(inner, dialect.toMessagesEvents?.())
    return rewrittenStream(reply, { rewriter, onFailure, headers: withoutDigests(reply.headers), dialect: undefined })
  }
  const message = dialect.toMessage?.(reply.bytes)
  if (message === undefined) return reply
  const canonical = new BytesReply(reply.status, reply.headers, message, { usage: reply.usage })
  const rewritten = withParts(canonical, map, onFailure)
  return rewritten === canonical ? reply : rewritten
}

/**
 * Returns the reply with its events rewritten, in the Messages shape; a JSON reply in the events of the equivalent stream.
 * Errors stay unchanged, and so does a JSON reply without a changed event. Throws the error of `map` for a JSON
 * reply, and when the returned events are no message.
 */
export function withEvents(reply: Reply, map: MapEvent, onFailure: OnRewriteFailure): Reply {
  if (reply.status !== 200) return reply
  const { dialect } = reply
  const headers = withoutDigests(reply.headers)
  if (reply.kind === 'stream') {
    const rewriter = createEventRewriter(map, dialect.toMessagesEvents?.())
    return rewrittenStream(reply, { rewriter, onFailure, headers, dialect: undefined })
  }
  const message = dialect.toMessage === undefined ? reply.bytes : dialect.toMessage(reply.bytes)
  if (message === undefined) throw new Error('the reply is no answer in the Messages shape')
  const rewriter = createEventRewriter(map)
  const events = rewriter.take(streamOfMessage(message))
  if (!rewriter.hasChanged) return reply
  const bytes = messageOfStream(events)
  if (bytes === undefined) throw new Error('the rewritten events are no whole message')
  return new BytesReply(reply.status, headers, bytes, { usage: reply.usage })
}

function withoutDigests(headers: ReplyHeaders): ReplyHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BYTES.has(name)))
}
