import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import type { RateDecision, RateLimiter } from '../core/ports/rate-limit.ts'
import { clientSubnet } from './client-subnet.ts'

/**
 * DESIGN — what somebody who has not paid may have done
 *
 * A challenge costs a look at the body and a signature, and each is worth one claim in the database and one question to
 * the payment provider. So challenges are counted before that work: by address, and all together. Whoever comes with a
 * challenge of ours was counted when it was given, and is let through whatever others do; but a challenge can be presented
 * only so often. What is remembered has the bounds of the limiters.
 */
export interface ChallengeLimits {
  /** Challenges by address; `undefined`: as many as are asked for. */
  readonly byAddress: RateLimiter | undefined
  /** Challenges of all together. */
  readonly overall: RateLimiter | undefined
  /** Submits by challenge, and calls by session. */
  readonly submits: RateLimiter | undefined
}

/** Counts those who have not paid. */
export class ChallengeLimiter {
  readonly #limits: ChallengeLimits
  /** A request is counted once, wherever it comes by. */
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

  /** Counts a call of a session of ours. Throws `rate_limit_error`. */
  async admitCall(sessionCredentialId: string): Promise<void> {
    const decision = await this.#limits.submits?.take(sessionCredentialId)
    assertAllowed(decision, 'Too many calls of this session.')
  }

  /** Counts a submit of a challenge of ours. Throws `rate_limit_error`. */
  async admitSubmit(challengeId: string): Promise<void> {
    assertAllowed(await this.#limits.submits?.take(challengeId), unpaid('of this challenge'))
  }
}

function unpaid(where: string): string {
  return `Too many requests that are not paid, ${where}. Nothing was charged.`
}

function assertAllowed(decision: RateDecision | undefined, words: string): void {
  if (decision === undefined || decision.isAllowed) return
  const retryAfter = String(Math.ceil(decision.retryMs / 1000))
  throw new GatewayError('rate_limit_error', words, { headers: { 'retry-after': retryAfter } })
}
