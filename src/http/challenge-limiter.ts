import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import type { RateDecision, RateLimiter } from '../core/ports/rate-limit.ts'
import { clientSubnet } from './client-subnet.ts'
import { retryAfter } from './retry-after.ts'

/**
 * DESIGN — limits on clients that have not paid
 *
 * A challenge costs parsing a body and a signature, and allows one claim in the database and one call to the payment
 * provider. So requests are counted before that work: by address, and all together. A request with a valid challenge
 * was counted when the challenge was issued and is not limited by other clients; each challenge has a limit of its own.
 * The limiters bound the memory.
 */
export interface ChallengeLimits {
  /** Challenges by address; `undefined`: unlimited. */
  readonly byAddress: RateLimiter | undefined
  /** Challenges of all addresses together. */
  readonly overall: RateLimiter | undefined
  /** Submissions by challenge, and calls by prepaid session. */
  readonly submits: RateLimiter | undefined
}

/** Counts unpaid requests, and uses of each challenge and prepaid session. */
export class ChallengeLimiter {
  readonly #limits: ChallengeLimits
  /** Requests already counted: each counts once, however often it is admitted. */
  readonly #counted = new WeakSet<IncomingMessage>()

  constructor(limits: ChallengeLimits) {
    this.#limits = limits
  }

  /** Counts a request that may be answered with a challenge. Throws `rate_limit_error`. */
  async admit(request: IncomingMessage): Promise<void> {
    if (this.#counted.has(request)) return
    this.#counted.add(request)
    const { byAddress, overall } = this.#limits
    assertAllowed(await byAddress?.take(clientSubnet(request.socket.remoteAddress)), unpaid('from this address'))
    assertAllowed(await overall?.take('all'), unpaid('at this gateway'))
  }

  /** Counts a call of a prepaid session. Throws `rate_limit_error`. */
  async admitCall(sessionCredentialId: string): Promise<void> {
    const decision = await this.#limits.submits?.take(sessionCredentialId)
    assertAllowed(decision, 'Too many calls of this session.')
  }

  /** Counts a submission of a challenge. Throws `rate_limit_error`. */
  async admitSubmit(challengeId: string): Promise<void> {
    assertAllowed(await this.#limits.submits?.take(challengeId), unpaid('of this challenge'))
  }
}

function unpaid(where: string): string {
  return `Too many requests that are not paid, ${where}. Nothing was charged.`
}

function assertAllowed(decision: RateDecision | undefined, words: string): void {
  if (decision === undefined || decision.isAllowed) return
  throw new GatewayError('rate_limit_error', words, { headers: { 'retry-after': retryAfter(decision.retryMs) } })
}
