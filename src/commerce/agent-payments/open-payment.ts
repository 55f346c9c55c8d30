import { GatewayError, messageOf } from '../../core/errors.ts'
import { startInterval } from '../../core/interval.ts'
import type { Log } from '../../core/ports/log.ts'
import type {
  HeldPayment,
  OpenPaymentState,
  PaymentGateway,
  PaymentMove,
  PaymentStore,
} from '../../core/ports/payments.ts'

/** Dependencies of an open payment. */
export interface OpenPaymentOptions {
  readonly store: PaymentStore
  readonly gateway: PaymentGateway
  readonly leaseMs: number
  readonly log: Log
  /** Called once, when this instance has finished with it. */
  readonly onClosed: () => void
}

const RENEWALS_A_LEASE = 3
const LOST_WORDS = 'Another instance has taken this payment over. Send the same request again; it is not charged twice.'
const REFUSED_WORDS = 'The payment provider did not let the held money be taken.'

/** Thrown when held money cannot be captured: no reply is sent, and nothing is charged. */
export class CaptureRefused extends Error {
  constructor() {
    super(REFUSED_WORDS)
    this.name = 'CaptureRefused'
  }
}

/** Means of payment of a reply: a payment of its own, or a call of a session. */
export interface Payable {
  /** Id of the paid challenge. */
  readonly challengeId: string
  readonly state: OpenPaymentState
  /** The payment provider's id; set from the state `authorized` on. */
  readonly reference: string | undefined
  /** The session of the call. */
  readonly externalId?: string
  /**
   * Captures the money, unless that is done. Throws `CaptureRefused`, or `service_unavailable` when the outcome
   * is unknown.
   */
  capture(): Promise<void>
  /** Marks the payment as consumed before the reply is sent; succeeds exactly once, at one instance. Throws `service_unavailable`. */
  consume(): Promise<void>
  /** Releases it for further use, here or elsewhere, unless it is used up. Never throws. */
  release(): Promise<void>
  /** Releases it after a client disconnect during the provider's call, which is free a few times only. Never throws. */
  leave(): Promise<void>
}

/** A payment owned by this instance, from its claim to its end. */
export interface OpenPayment extends Payable {
  /** Moves it to the next state. Throws `service_unavailable` when another instance owns the payment by now. */
  move(to: PaymentMove['to'], reference?: string): Promise<void>
  /** Ends it without a charge. */
  fail(): Promise<void>
}

/** Opens a claimed payment: its lease is renewed until it ends or is released. */
export function createOpenPayment(held: HeldPayment, options: OpenPaymentOptions): OpenPayment {
  const { store, gateway, leaseMs, log, onClosed } = options
  const { challengeId, owner, fence } = held
  const own = { challengeId, owner, fence }
  let { state, reference } = held
  let isClosed = false
  const renewer = startInterval(() => store.renew({ ...own, leaseMs }), {
    everyMs: leaseMs / RENEWALS_A_LEASE,
    onError: (error) => log.warn({ challengeId, reason: messageOf(error) }, 'payment.renewal-failed'),
  })
  const close = () => {
    void renewer.close()
    if (!isClosed) onClosed()
    isClosed = true
  }
  const payment: OpenPayment = {
    challengeId,
    get state() {
      return state
    },
    get reference() {
      return reference
    },
    async move(to, reached) {
      const isTaken = await store.move({ ...own, from: state, to, reference: reached })
      if (!isTaken) throw new GatewayError('service_unavailable', LOST_WORDS, { headers: { 'retry-after': '2' } })
      if (to === 'authorized' || to === 'captured') state = to
      reference = reached ?? reference
    },
    async capture() {
      if (state === 'captured') return
      const outcome = await gateway.capture({ challengeId, reference: reference ?? '' })
      if (outcome === 'captured') return payment.move('captured')
      // Money that cannot be captured should not stay held either; otherwise the reaper releases it.
      await gateway.cancel({ challengeId, reference: reference ?? '' }).catch((error: unknown) => {
        log.warn({ challengeId, reference, reason: messageOf(error) }, 'payment.cancel-failed')
      })
      await payment.fail()
      throw new CaptureRefused()
    },
    async consume() {
      await payment.move('consumed')
      close()
    },
    async fail() {
      await payment.move('failed')
      close()
    },
    async leave() {
      if (isClosed) return
      try {
        if ((await store.leave(own)) === 'given-back') return close()
        await payment.capture()
        await payment.consume()
      } catch (error) {
        log.warn({ challengeId, reason: messageOf(error) }, 'payment.leave-failed')
        await payment.release()
      }
    },
    async release() {
      if (isClosed) return
      close()
      await store.release(own).catch((error: unknown) => {
        // Its lease ends by itself.
        log.warn({ challengeId, reason: messageOf(error) }, 'payment.release-failed')
      })
    },
  }
  return payment
}
