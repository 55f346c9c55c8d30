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
import { TransientMap } from '../../core/transient-map.ts'
import { createOpenPayment, type OpenPayment } from './open-payment.ts'

/** Dependencies of settlement. */
export interface SettlementOptions {
  readonly store: PaymentStore
  readonly gateway: PaymentGateway
  /** Mode of new payments; one in progress keeps its own. */
  readonly mode: SettlementMode
  /** Lease of a payment at this instance, unless renewed, in milliseconds. */
  readonly leaseMs: number
  /** Longest wait of a second submit for the first, in milliseconds. */
  readonly patienceMs: number
  readonly randomId: () => string
  readonly log: Log
}

/** A token that was presented for a challenge, and its purpose. */
export type Submission = Omit<PaymentClaim, 'owner' | 'leaseMs' | 'settlement'> & Pick<PaymentOrder, 'token'>

/** Reason why there is no payment: the challenge is invalid, or the money was refused. */
export type Unpaid =
  | { readonly kind: 'refused'; readonly why: ClaimRefusal }
  | { readonly kind: 'declined'; readonly reason: string }

/** Interval of polling the store for the end of another instance's payment, in milliseconds. */
const POLL_MS = 200
const LOCAL_POLL_MS = 1000
const BUSY_WORDS = 'This payment is being worked on. Send the same request again; it is not charged twice.'

/** Moves payments through their states, followed by the money at the payment provider. */
export class Settlement {
  readonly #options: SettlementOptions
  /** In-flight payments of this instance, so that a second submit need not query the store. */
  readonly #underWay = new TransientMap<Promise<void>>()

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /**
   * Claims a challenge with a token and holds the money. Waits while another submit of the same is in flight. Throws
   * `service_unavailable` when the money's outcome is unknown; the same may then be submitted again.
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

  /** Waits for the in-flight submit of this instance, or for one poll interval when another instance has it. */
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

/** Returns true when a submit has led to a payment that can be captured. */
export function isOpen(begun: OpenPayment | Unpaid): begun is OpenPayment {
  return !('kind' in begun)
}
