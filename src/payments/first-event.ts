import { abortable } from '../core/abortable.ts'
import { GatewayError } from '../core/errors.ts'
import { type ByteSource, type ByteSourceSink, type Ending, StreamReply } from '../core/reply.ts'

const NO_ANSWER = 'The provider broke off before its answer had begun.'

/**
 * Opens a stream and waits until its answer has begun; gives a stream of the same bytes, from the first on. Rejects with
 * `upstream_error` when it ends, or tells an error, before that; then the stream is cancelled.
 */
export async function untilFirstEvent(reply: StreamReply, signal: AbortSignal): Promise<StreamReply> {
  const begun = Promise.withResolvers<void>()
  const held: Buffer[] = []
  let hasBegun = false
  let sink: ByteSourceSink | undefined
  let ending: Ending | undefined
  let isPaused = false
  const refuse = () => begun.reject(new GatewayError('upstream_error', NO_ANSWER))
  reply.onEvent((name) => {
    if (hasBegun || name === 'ping') return
    if (name === 'error') refuse()
    hasBegun = name !== 'error'
  })
  reply.open({
    write(portion) {
      if (sink !== undefined) {
        sink.data(portion)
        return !isPaused
      }
      held.push(portion)
      if (hasBegun) begun.resolve()
      return !hasBegun
    },
    end(end) {
      ending = end
      if (sink !== undefined) sink.end(end)
      else if (!hasBegun) refuse()
    },
  })
  try {
    await abortable(begun.promise, { signal })
  } catch (error) {
    reply.cancel()
    throw error
  }
  const source: ByteSource = {
    start(to) {
      for (const portion of held.splice(0)) to.data(portion)
      sink = to
      if (ending !== undefined) to.end(ending)
      else if (!isPaused) reply.resume()
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      reply.resume()
    },
    cancel: () => reply.cancel(),
  }
  const { status, headers, dialect } = reply
  return new StreamReply({ status, headers, dialect, isWhole: true }, source)
}
