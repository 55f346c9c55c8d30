import { Flow } from './flow.ts'
import { type BytesReplyOptions, type ReplyHeaders, StreamReply } from './reply.ts'

/** Creates a streamed reply from stored bytes: a replay. */
export function storedStreamReply(bytes: Buffer, headers: ReplyHeaders, options: BytesReplyOptions = {}): StreamReply {
  const flow = new Flow({
    start() {
      flow.push(bytes)
      flow.end({ outcome: 'complete', usage: options.usage })
    },
    resume() {},
    cancel() {},
  })
  return new StreamReply({ status: 200, headers, isWhole: true, dialect: options.dialect }, flow)
}
