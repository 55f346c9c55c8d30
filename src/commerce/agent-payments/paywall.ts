import { hash } from 'node:crypto'
import type { ClaimRefusal } from '../../core/ports/payments.ts'
import type { Challenges } from './challenges.ts'
import { type Challenge, printChallenge } from './codecs/challenge.ts'
import type { PaymentCredential } from './codecs/credential.ts'
import { type Problem, type ProblemName, paymentProblem } from './codecs/problem.ts'
import type { OpenPayment } from './open-payment.ts'
import { isOpen, type Settlement } from './settlement.ts'

/** What a request is, as far as paying for it goes. */
export interface PricedRequest {
  readonly route: string
  /** RFC 9530, of its body. */
  readonly digest: string
  /** Its price. */
  readonly amountCents: number
}

/** Why a request is not served yet; answered with a fresh challenge. */
export interface Refused {
  readonly problem: ProblemName
  readonly detail: string
  /** Whether an answer was delivered for this very credential. */
  readonly isDelivered?: boolean
}

/** A refusal as it is sent: 402, with a challenge for this very request. */
export interface Refusal {
  readonly body: Problem
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string
}

/** What a paywall is made from. */
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

/** Asks for payment, and takes it. */
export class Paywall {
  readonly #options: PaywallOptions

  constructor(options: PaywallOptions) {
    this.#options = options
  }

  /** Refuses a request until it is paid. Rejects with `service_unavailable` while the store does not answer. */
  async refuse(request: PricedRequest, { problem, detail }: Refused): Promise<Refusal> {
    const challenge = await this.#options.challenges.issue(request)
    return { body: paymentProblem(problem, `${detail} ${RETRY}`), challenge: printChallenge(challenge) }
  }

  /** Whether a challenge is one of ours for a route, and unchanged; without a look into the store. */
  recognises(challenge: Challenge, route: string): boolean {
    return this.#options.challenges.recognise(challenge, route) !== undefined
  }

  /**
   * Takes a credential for a request. Throws `service_unavailable` when it is not known what became of the money: then
   * the same may be submitted again, and nothing else should be paid.
   */
  async submit(
    { challenge, token }: PaymentCredential,
    { request, model, signal }: { request: PricedRequest; model: string; signal: AbortSignal },
  ): Promise<OpenPayment | Refused> {
    const own = this.#options.challenges.recognise(challenge, request.route)
    if (own === undefined) return invalid('The challenge is none of ours for this route, or was changed.')
    // Checked before anything is stored: the challenge stays good for the body it was given for.
    if (own.digest !== request.digest)
      return { problem: 'verification-failed', detail: 'The body is not the one that the challenge was given for.' }
    const { id: challengeId, windowId, expiresAtMs, amountCents, route } = own
    const submission = { challengeId, windowId, expiresAtMs, amountCents, currency: CURRENCY, route, model, token }
    const begun = await this.#options.settlement.begin({ ...submission, tokenHash: tokenHash(token) }, signal)
    if (isOpen(begun)) return begun
    if (begun.kind === 'refused') return { ...invalid(INVALID[begun.why]), isDelivered: begun.why === 'consumed' }
    return declined(begun.reason)
  }
}

/** What stands for a token where the token itself must not be: SHA-256, hexadecimal. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Whose receipts and caches a paid call's are: those of its token. */
export function agentScope(token: string): string {
  return `agent:${tokenHash(token)}`
}

/** The answer when a payment was refused. */
export function declined(reason: string): Refused {
  const detail = `The payment was not made: ${reason}. Retry with a fresh challenge and a valid token.`
  return { problem: 'verification-failed', detail }
}

function invalid(detail: string): Refused {
  return { problem: 'invalid-challenge', detail }
}
