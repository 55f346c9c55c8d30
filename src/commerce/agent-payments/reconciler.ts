import { messageOf } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { FoundPayment, PaymentGateway, PaymentStore, Reconciled } from '../../core/ports/payments.ts'

/** Dependencies of the reconciler. */
export interface ReconcilerOptions {
  readonly store: Pick<PaymentStore, 'reconcile' | 'claimSweep'>
  readonly gateway: Pick<PaymentGateway, 'cancel' | 'list'>
  readonly clock: Clock
  readonly log: Log
}

/** Number of payments by outcome. */
type Reconciliation = Record<Reconciled, number>

/** Compares the payment provider's payments with the stored ones, and repairs differences. */
export interface Reconciler {
  /** Reconciles one payment, as fetched just now. */
  apply(found: FoundPayment): Promise<Reconciled>
  /** Reconciles all payments that may still be held; run by one of all instances once a day. Never throws. */
  sweepDaily(signal: AbortSignal): Promise<void>
}

const MINUTE_MS = 60_000
/** Longer than a hold lasts at Stripe, a week. */
const LOOKED_BACK_MS = 8 * 24 * 60 * MINUTE_MS
/** A payment may be recorded here before it exists there, never the reverse; one of this age has ended. */
const SETTLED_AFTER_MS = 15 * MINUTE_MS

/** Creates a reconciler. */
export function createReconciler({ store, gateway, clock, log }: ReconcilerOptions): Reconciler {
  async function apply(found: FoundPayment): Promise<Reconciled> {
    const outcome = await store.reconcile(found)
    if (outcome === 'agrees') return outcome
    const { challengeId, reference, standing } = found
    // Money taken without a reply, or for an unknown reason, needs a person's attention.
    const isGrave = outcome === 'adopted' || outcome === 'disagrees'
    log[isGrave ? 'error' : 'warn']({ challengeId, reference, standing, outcome }, 'payment.reconciled')
    if (outcome === 'to-release' && (await gateway.cancel(found)) === 'captured')
      return store.reconcile({ ...found, standing: 'captured' })
    return outcome
  }

  async function sweep(signal: AbortSignal): Promise<Reconciliation> {
    const counts: Reconciliation = { agrees: 0, noted: 0, recovered: 0, adopted: 0, 'to-release': 0, disagrees: 0 }
    const nowMs = clock.nowMs()
    for await (const { createdAtMs, ...found } of gateway.list({ sinceMs: nowMs - LOOKED_BACK_MS })) {
      signal.throwIfAborted()
      // In-flight payments are left to their owners.
      if (nowMs - createdAtMs < SETTLED_AFTER_MS && found.standing !== 'captured') continue
      counts[await apply(found)]++
    }
    return counts
  }

  return {
    apply,
    async sweepDaily(signal) {
      try {
        if (await store.claimSweep()) log.info(await sweep(signal), 'payment.swept')
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'payment.sweep-failed')
      }
    },
  }
}
