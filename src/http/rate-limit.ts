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
  /** Counts the networks from which each key is used; unset where they are not counted. */
  readonly networks?: { note(caller: Caller, address: string | undefined): void } | undefined
}

/** Reply headers, lower-case names. */
type Headers = Record<string, string>

/** A subject whose requests are counted together. */
interface Counted {
  /** Name of its policy in headers. */
  readonly policy: 'key' | 'person' | 'team'
  readonly scope: string
  readonly most: number
  /** Words of a refusal. */
  readonly words: string
}

/** The parts of a caller that have limits of requests. */
type LimitedCaller = Pick<Caller, 'scope' | 'keyId' | 'limits' | 'userId' | 'personLimits' | 'teamId' | 'teamLimits'>

/**
 * Counts a request against its key or user, and against its person's and team's limits. Returns headers with the status
 * of the limit that has the least left (RateLimit header fields, IETF draft 10), none without a limit. Throws
 * `rate_limit_error`, which names the limit.
 */
export async function limitRequests(
  { requests, requestsPerMinute }: RequestLimits,
  caller: LimitedCaller,
): Promise<Headers> {
  if (requests === undefined) return {}
  let least: { readonly counted: Counted; readonly decision: RateDecision } | undefined
  for (const counted of countedOf(caller, requestsPerMinute)) {
    const decision = await requests.take(counted.scope, counted.most)
    if (!decision.isAllowed) throw refusalOf(counted, decision)
    if (least === undefined || decision.remaining < least.decision.remaining) least = { counted, decision }
  }
  return least === undefined ? {} : standing(least.counted, least.decision)
}

/** Lists the limits of a caller, the narrowest first: a request that its key refuses is not counted for its team. */
function countedOf(caller: LimitedCaller, operators: number): Counted[] {
  const { scope, keyId, userId, teamId } = caller
  const counted: Counted[] = []
  const key = tightest(operators, caller.limits?.requestsPerMinute)
  if (key > 0) counted.push({ policy: 'key', scope, most: key, words: keyId === undefined ? '' : ' with this key' })
  const person = caller.personLimits?.requestsPerMinute
  if (person !== undefined)
    counted.push({ policy: 'person', scope: `user:${userId}`, most: person, words: ' by the owner of this key' })
  const team = caller.teamLimits?.requestsPerMinute
  if (team !== undefined)
    counted.push({ policy: 'team', scope: `team:${teamId}`, most: team, words: ' by the team of this key' })
  return counted
}

/** Returns the lower of two limits; 0 and unset mean no limit. */
function tightest(operators: number, owners = 0): number {
  return operators === 0 || owners === 0 ? operators + owners : Math.min(operators, owners)
}

function refusalOf(counted: Counted, decision: RateDecision): GatewayError {
  const { limit, windowMs, retryMs } = decision
  const message = `More than ${limit} requests in ${windowMs / 1000} seconds${counted.words}. The next is let through in ${retryAfter(retryMs)} s.`
  const headers = { ...standing(counted, decision), ...refusal(decision) }
  return new GatewayError('rate_limit_error', message, { headers })
}

function standing({ policy }: Counted, { limit, windowMs, remaining, resetMs }: RateDecision): Headers {
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${Math.round(windowMs / 1000)}`,
    ratelimit: `"${policy}";r=${remaining};t=${retryAfter(resetMs)}`,
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
