import { messageOfStream } from '../../core/reply/message-of-stream.ts'
import { createMessagesEvents, type MessageIdentity } from './stream.ts'

/**
 * Translates a GenerateContentResponse to a Messages message; `undefined` when it cannot be read, has neither a reason to
 * stop nor a reason to block, or has parts that the Messages shape has no place for. A reply is a stream of one event,
 * and is read as one, so that the two can never differ.
 */
export function toMessagesReply(reply: Buffer, { model, id }: MessageIdentity): Buffer | undefined {
  const events = createMessagesEvents({ model, id })
  const stream = events.event('message', reply.toString()) + events.end()
  return events.isComplete ? messageOfStream(Buffer.from(stream)) : undefined
}
