import type { ParameterizedContext } from 'koa'
import type { Caller } from '../../core/request/caller.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import { type Authenticate, authenticateRequest } from '../authentication.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'

/** Requests per minute of a key about itself. */
const REQUESTS_PER_MINUTE = 600

/** Authentication and rate limits of requests about the caller itself. */
export interface OwnCallerOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
}

/**
 * Returns the caller of a request about itself. Its limits of requests to models do not apply: Claude Code does not start
 * when its settings are refused. Throws `authentication_error`, `permission_error`, `rate_limit_error`.
 */
export async function ownCaller(
  ctx: ParameterizedContext<RequestState>,
  { authenticate, limits }: OwnCallerOptions,
): Promise<Caller> {
  const partialRequest: PartialRequest = {}
  ctx.state.partialRequest = partialRequest
  const { caller } = await authenticateRequest(ctx.req, { authenticate, limits, partialRequest })
  await limitRequests({ ...limits, requestsPerMinute: REQUESTS_PER_MINUTE }, { scope: `own:${caller.scope}` })
  return caller
}
