import { GatewayError } from '../core/errors.ts'
import type { RateDecision, RateLimiter } from '../core/ports/rate-limit.ts'
import type { Caller } from '../core/request/caller.ts'
import type { RunningRequests } from './running-requests.ts'

/** The limits there are. */
export interface RequestLimits {
  /** By key; unset where no key can have a limit. */
  readonly requests: RateLimiter | undefined
  /** How many a key may send in a minute unless its owner has set less; 0: as many as it likes. */
  readonly requestsPerMinute: number
  /** By key; `undefined`: as many may run at once as are sent. */
  readonly running?: RunningRequests | undefined
  /** By address, for requests without a valid credential. */
  readonly failures: RateLimiter | undefined
}

/** Reply headers, lower-case names. */
type Headers = Record<string, string>

/**
 * Counts a request against its key or user. Gives the headers that tell the client where it stands (RateLimit header fields,
 * IETF draft 10), none when there is no limit. Throws `rate_limit_error`.
 */
export async function limitRequests(
  { requests, requestsPerMinute }: RequestLimits,
  { scope, limits }: Pick<Caller, 'scope' | 'limits'>,
): Promise<Headers> {
  const most = tightest(requestsPerMinute, limits?.requestsPerMinute)
  if (requests === undefined || most === 0) return {}
  const decision = await requests.take(scope, most)
  const headers = standing(decision)
  if (decision.isAllowed) return headers
  const { limit, windowMs, retryMs } = decision
  const message = `More than ${limit} requests in ${windowMs / 1000} seconds. The next is let through in ${seconds(retryMs)} s.`
  throw new GatewayError('rate_limit_error', message, { headers: { ...headers, ...refusal(decision) } })
}

/** The lower of two limits, of which 0 and unset are none. */
function tightest(operators: number, owners = 0): number {
  return operators === 0 || owners === 0 ? operators + owners : Math.min(operators, owners)
}

function standing({ limit, windowMs, remaining, resetMs }: RateDecision): Headers {
  return {
    'ratelimit-policy': `"key";q=${limit};w=${Math.round(windowMs / 1000)}`,
    ratelimit: `"key";r=${remaining};t=${seconds(resetMs)}`,
  }
}

/** The provider's own manner, which its clients show. */
function refusal({ limit, remaining, resetMs, retryMs }: RateDecision): Headers {
  return {
    'retry-after': seconds(retryMs),
    'anthropic-ratelimit-requests-limit': String(limit),
    'anthropic-ratelimit-requests-remaining': String(remaining),
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + resetMs).toISOString(),
  }
}

function seconds(ms: number): string {
  return String(Math.ceil(ms / 1000))
}
