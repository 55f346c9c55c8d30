import { messageOfStream } from '../../core/reply/message-of-stream.ts'
import { createMessagesEvents, type MessageIdentity } from './stream.ts'

/**
 * Translates a GenerateContentResponse to a Messages message; `undefined` when it is unreadable, has neither a finish
 * reason nor a block reason, or has parts without an equivalent in the Messages shape. A reply is read as a stream of one
 * event, so that the two can never differ.
 */
export function toMessagesReply(reply: Buffer, { model, id }: MessageIdentity): Buffer | undefined {
  const events = createMessagesEvents({ model, id })
  const stream = events.event('message', reply.toString()) + events.end()
  return events.isComplete ? messageOfStream(Buffer.from(stream)) : undefined
}
