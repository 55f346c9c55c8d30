import { GatewayError } from '../errors.ts'
import type { RequestDocument } from './request.ts'

/** What Anthropic's SDKs read to send the same turn again with all messages in it. */
const UNSUPPORTED = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/**
 * Throws `invalid_request` for a request with a `thread`, whose messages Anthropic's servers hold between turns (beta
 * `message-threads-2026-08-12`): it brings only the new ones, and no other provider knows the rest. The loop of tools in
 * Anthropic's SDK for TypeScript begins with one since version 1.2, and goes on without when it is told so.
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
