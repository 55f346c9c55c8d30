import { hash } from 'node:crypto'
import type { ClaimRefusal } from '../../core/ports/payments.ts'
import type { Challenges } from './challenges.ts'
import { type Challenge, printChallenge } from './codecs/challenge.ts'
import type { PaymentCredential } from './codecs/credential.ts'
import { type Problem, type ProblemName, paymentProblem } from './codecs/problem.ts'
import type { OpenPayment } from './open-payment.ts'
import { isOpen, type Settlement } from './settlement.ts'

/** The payment-related properties of a request. */
export interface PricedRequest {
  readonly route: string
  /** RFC 9530 digest of its body. */
  readonly digest: string
  /** Its price. */
  readonly amountCents: number
}

/** Reason why a request must be paid first; the reply has a new challenge. */
export interface Refused {
  readonly problem: ProblemName
  readonly detail: string
  /** True when a reply was already delivered for this credential. */
  readonly isDelivered?: boolean
}

/** A refusal as it is sent: 402, with a challenge for this request. */
export interface Refusal {
  readonly body: Problem
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string
}

/** Dependencies of the paywall. */
export interface PaywallOptions {
  readonly challenges: Challenges
  readonly settlement: Settlement
}

const CURRENCY = 'usd'
const RETRY = 'Pay the challenge of this reply.'
const INVALID: Readonly<Record<ClaimRefusal, string>> = {
  unknown: 'The challenge is unknown.',
  expired: 'The challenge has expired.',
  consumed: 'The challenge was paid and used.',
  failed: 'The payment of the challenge has failed.',
  'other-token': 'The challenge belongs to another token.',
}

/** Demands payments and takes them. */
export class Paywall {
  readonly #options: PaywallOptions

  constructor(options: PaywallOptions) {
    this.#options = options
  }

  /** Refuses a request until it is paid. Rejects with `service_unavailable` while the store is down. */
  async refuse(request: PricedRequest, { problem, detail }: Refused): Promise<Refusal> {
    const challenge = await this.#options.challenges.issue(request)
    return { body: paymentProblem(problem, `${detail} ${RETRY}`), challenge: printChallenge(challenge) }
  }

  /** Returns true when this gateway issued the challenge for a route and it is unchanged; without a query to the store. */
  recognises(challenge: Challenge, route: string): boolean {
    return this.#options.challenges.recognise(challenge, route) !== undefined
  }

  /**
   * Accepts a credential for a request. Throws `service_unavailable` when the money's outcome is unknown: then
   * the same credential may be submitted again, and nothing else should be paid.
   */
  async submit(
    { challenge, token }: PaymentCredential,
    { request, model, signal }: { request: PricedRequest; model: string; signal: AbortSignal },
  ): Promise<OpenPayment | Refused> {
    const { challenges, settlement } = this.#options
    const own = challenges.recognise(challenge, request.route)
    if (own === undefined) return invalid('The challenge was not issued for this route, or was changed.')
    // Checked before anything is stored: the challenge stays valid for its original body.
    if (own.digest !== request.digest)
      return { problem: 'verification-failed', detail: 'The body is not the one that the challenge was issued for.' }
    const { id: challengeId, windowId, expiresAtMs, amountCents, route } = own
    const submission = { challengeId, windowId, expiresAtMs, amountCents, currency: CURRENCY, route, model, token }
    const begun = await settlement.begin({ ...submission, tokenHash: tokenHash(token) }, signal)
    if (isOpen(begun)) return begun
    if (begun.kind !== 'refused') return declined(begun.reason)
    challenges.noteRefusal(own, begun.why)
    return { ...invalid(INVALID[begun.why]), isDelivered: begun.why === 'consumed' }
  }
}

/** Returns the substitute for a token that must not be stored: SHA-256, hexadecimal. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Returns the scope of a paid call's receipts and caches: that of its token. */
export function agentScope(token: string): string {
  return `agent:${tokenHash(token)}`
}

/** Creates the refusal of a declined payment. */
export function declined(reason: string): Refused {
  const detail = `The payment was not made: ${reason}. Retry with a fresh challenge and a valid token.`
  return { problem: 'verification-failed', detail }
}

function invalid(detail: string): Refused {
  return { problem: 'invalid-challenge', detail }
}
