import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../../core/errors.ts'
import type { Log } from '../../core/ports/log.ts'
import type {
  ClaimRefusal,
  HeldPayment,
  PaymentClaim,
  PaymentGateway,
  PaymentOrder,
  PaymentStore,
  SettlementMode,
} from '../../core/ports/payments.ts'
import { createOpenPayment, type OpenPayment } from './open-payment.ts'

/** What settlement is made from. */
export interface SettlementOptions {
  readonly store: PaymentStore
  readonly gateway: PaymentGateway
  /** Of payments that begin; one that goes on keeps its own. */
  readonly mode: SettlementMode
  /** How long a payment is this instance's unless that is renewed, in milliseconds. */
  readonly leaseMs: number
  /** How long a second submit waits for the first, in milliseconds. */
  readonly patienceMs: number
  readonly randomId: () => string
  readonly log: Log
}

/** A token that was presented for a challenge, and what for. */
export type Submission = Omit<PaymentClaim, 'owner' | 'leaseMs' | 'settlement'> & Pick<PaymentOrder, 'token'>

/** Why there is no payment: the challenge is no good, or the money was refused. */
export type Unpaid =
  | { readonly kind: 'refused'; readonly why: ClaimRefusal }
  | { readonly kind: 'declined'; readonly reason: string }

/** How often the store is asked about a payment of another instance, and of this one, whose end is told. */
const POLL_MS = 200
const LOCAL_POLL_MS = 1000
const BUSY_WORDS = 'This payment is being worked on. Send the same request again; it is not charged twice.'

/** Takes payments through their steps, with the money at the payment provider following each. */
export class Settlement {
  readonly #options: SettlementOptions
  /** Payments that this instance works on, so that a second submit need not ask the store. */
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /**
   * Claims a challenge with a token and has the money held. Waits while another submit of the same is under way. Throws
   * `service_unavailable` when it is not known what became of the money; the same may then be submitted again.
   */
  async begin(submission: Submission, signal: AbortSignal): Promise<OpenPayment | Unpaid> {
    const claimed = await this.#claim(submission, signal)
    if (claimed.kind === 'refused') return claimed
    const payment = this.#open(claimed.payment)
    try {
      if (payment.state !== 'claimed') return payment
      const { settlement } = claimed.payment
      const authorization = await this.#options.gateway.authorize({ ...submission, settlement })
      if (authorization.kind === 'refused') {
        await payment.fail()
        return { kind: 'declined', reason: authorization.reason }
      }
      await payment.move(authorization.kind, authorization.reference)
      return payment
    } catch (error) {
      await payment.release()
      throw error
    }
  }

  async #claim(submission: Submission, signal: AbortSignal) {
    const { store, mode: settlement, leaseMs, patienceMs, randomId } = this.#options
    const { token: _, ...claim } = submission
    const deadlineMs = performance.now() + patienceMs
    for (;;) {
      const outcome = await store.claim({ ...claim, settlement, leaseMs, owner: randomId() })
      if (outcome.kind !== 'busy') return outcome
      if (performance.now() >= deadlineMs)
        throw new GatewayError('service_unavailable', BUSY_WORDS, { headers: { 'retry-after': '2' } })
      await this.#wait(claim.challengeId, signal)
    }
  }

  /** Until the submit under way has ended here, or for a moment when another instance has it. */
  async #wait(challengeId: string, signal: AbortSignal): Promise<void> {
    const ended = this.#underWay.get(challengeId)
    const done = new AbortController()
    const pause = sleep(ended === undefined ? POLL_MS : LOCAL_POLL_MS, undefined, {
      signal: AbortSignal.any([signal, done.signal]),
    }).catch(() => {})
    await Promise.race([pause, ...(ended === undefined ? [] : [ended])])
    done.abort()
    signal.throwIfAborted()
  }

  #open(held: HeldPayment): OpenPayment {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { challengeId } = held
    this.#underWay.set(challengeId, promise)
    const onClosed = () => {
      if (this.#underWay.get(challengeId) === promise) this.#underWay.delete(challengeId)
      resolve()
    }
    return createOpenPayment(held, { ...this.#options, onClosed })
  }
}

/** Whether a submit has led to a payment that can be captured. */
export function isOpen(begun: OpenPayment | Unpaid): begun is OpenPayment {
  return !('kind' in begun)
}
