import { BytesReply, type Reply } from '../core/reply/reply.ts'
import { storedStreamReply } from '../core/reply/stored-stream.ts'
import { streamOfMessage } from '../core/reply/stream-of-message.ts'

/**
 * Builds a reply of a whole message in the Messages shape, as JSON or as the stream that it would have been:
 * `exchange.reply = messageReply(message, { stream: exchange.wantsStream })`. Chat clients get it in their own dialect.
 */
export function messageReply(message: object, { stream }: { stream: boolean }): Reply {
  const bytes = Buffer.from(JSON.stringify(message))
  return stream
    ? storedStreamReply(streamOfMessage(bytes), { 'content-type': 'text/event-stream; charset=utf-8' })
    : new BytesReply(200, { 'content-type': 'application/json' }, bytes)
}
