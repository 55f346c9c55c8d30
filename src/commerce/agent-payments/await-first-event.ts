import { abortable } from '../../core/abortable.ts'
import { GatewayError } from '../../core/errors.ts'
import { Flow } from '../../core/reply/flow.ts'
import { StreamReply } from '../../core/reply/reply.ts'

const NO_ANSWER = 'The provider broke off before its answer had begun.'

/**
 * Opens a stream and waits until its answer has begun; returns a stream of the same bytes, from the first on. Rejects with
 * `upstream_error` when it ends, or reports an error, before that; then the stream is cancelled.
 */
export async function awaitFirstEvent(reply: StreamReply, signal: AbortSignal): Promise<StreamReply> {
  const begun = Promise.withResolvers<void>()
  const flow = new Flow({ start: () => reply.resume(), resume: () => reply.resume(), cancel: () => reply.cancel() })
  let hasBegun = false
  const refuse = () => begun.reject(new GatewayError('upstream_error', NO_ANSWER))
  reply.onEvent((name) => {
    if (hasBegun || name === 'ping') return
    if (name === 'error') refuse()
    hasBegun = name !== 'error'
  })
  reply.open({
    write(portion) {
      const takes = flow.push(portion)
      if (hasBegun) begun.resolve()
      return takes || !hasBegun
    },
    end(ending) {
      if (!hasBegun) refuse()
      flow.end(ending)
    },
  })
  try {
    await abortable(begun.promise, { signal })
  } catch (error) {
    reply.cancel()
    throw error
  }
  const { status, headers, dialect } = reply
  return new StreamReply({ status, headers, dialect, isWhole: true }, flow)
}
