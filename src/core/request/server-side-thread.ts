import { GatewayError } from '../errors.ts'
import type { RequestDocument } from './request.ts'

/** Detail by which Anthropic's SDKs send the same turn again with all messages in it. */
const UNSUPPORTED = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/**
 * Throws `invalid_request` for a request with a `thread`, whose messages Anthropic's servers store between turns (beta
 * `message-threads-2026-08-12`): it has only the new ones, and no other provider has the rest. The tool loop of
 * Anthropic's SDK for TypeScript starts a thread since version 1.2, and continues without one after this error.
 */
export function refuseServerSideThread(request: RequestDocument): void {
  const thread = request.field('thread')
  if (thread === undefined || thread === null) return
  throw new GatewayError(
    'invalid_request',
    'thread: this provider holds no messages between turns; send all of them, without a thread.',
    { fields: { details: UNSUPPORTED } },
  )
}
