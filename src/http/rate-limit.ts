import { GatewayError } from '../core/errors.ts'
import type { RateDecision, RateLimiter } from '../core/ports/rate-limit.ts'
import type { Caller } from '../core/request/caller.ts'
import { retryAfter } from './retry-after.ts'
import type { RunningRequests } from './running-requests.ts'

/** Rate limits and concurrency limits of requests. */
export interface RequestLimits {
  /** Requests by key; unset where no key can have a limit. */
  readonly requests: RateLimiter | undefined
  /** Requests per minute and key, unless the key's owner has set fewer; 0 is unlimited. */
  readonly requestsPerMinute: number
  /** Concurrent requests by key; `undefined` is unlimited. */
  readonly running?: RunningRequests | undefined
  /** By subnet, for requests without a valid credential. */
  readonly failures: RateLimiter | undefined
}

/** Reply headers, lower-case names. */
type Headers = Record<string, string>

/**
 * Counts a request against its key or user. Returns headers with the rate-limit status (RateLimit header fields, IETF
 * draft 10), none without a limit. Throws `rate_limit_error`.
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
  const message = `More than ${limit} requests in ${windowMs / 1000} seconds. The next is let through in ${retryAfter(retryMs)} s.`
  throw new GatewayError('rate_limit_error', message, { headers: { ...headers, ...refusal(decision) } })
}

/** Returns the lower of two limits; 0 and unset mean no limit. */
function tightest(operators: number, owners = 0): number {
  return operators === 0 || owners === 0 ? operators + owners : Math.min(operators, owners)
}

function standing({ limit, windowMs, remaining, resetMs }: RateDecision): Headers {
  return {
    'ratelimit-policy': `"key";q=${limit};w=${Math.round(windowMs / 1000)}`,
    ratelimit: `"key";r=${remaining};t=${retryAfter(resetMs)}`,
  }
}

/** Headers as the provider sends them; its clients display them. */
function refusal({ limit, remaining, resetMs, retryMs }: RateDecision): Headers {
  return {
    'retry-after': retryAfter(retryMs),
    'anthropic-ratelimit-requests-limit': String(limit),
    'anthropic-ratelimit-requests-remaining': String(remaining),
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + resetMs).toISOString(),
  }
}
