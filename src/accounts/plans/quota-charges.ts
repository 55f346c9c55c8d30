import { BufferedWriter } from '../../core/buffered-writer.ts'
import { GatewayError, messageOf } from '../../core/errors.ts'
import type { Plans } from '../../core/money/plans.ts'
import type { ChargeOf, QuotaCharge } from '../../core/money/quota-charge.ts'
import type { CallEnd, CallLedger, CallOrder, CallReservation } from '../../core/ports/calls.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Caller } from '../../core/request/caller.ts'
import { TransientMap } from '../../core/transient-map.ts'
import { callRefusal } from './refusal.ts'

/**
 * DESIGN — quota charges
 *
 *   open ──► hold: with the guard's money, or alone before a provider is called or a cache answers; 402, 429
 *     │
 *     └─ the answer begins: count ─┐
 *        no answer: waive ─────────┴─► pending ends ──four times a second, or at once──► one transaction for all of them
 *
 * The route opens a charge and ends it; the component that reserves money for the request finds it by the request's id, and
 * holds the call in the same transaction. A call is held before any work, so no plan is overrun. The end of an answered
 * call is final, so ends are batched. A client without an answer waits until its call is free again, for at most two
 * seconds, so that its retry is not refused. Ends without a reply of the database are sent again. After a crash a hold
 * ends with its lease, and is free: a call that could not be counted is not charged.
 */
const PERIOD_MS = 250
/** Ends per transaction. */
const MOST_AT_ONCE = 64
/** Ends that wait while the database is down; further ones are left to their leases. */
const MOST_WAITING = 20_000
/** Longest pause between attempts while the database is down. */
const LONGEST_PAUSE_MS = 1000
/** Longest wait for waiting ends to be sent. */
const SENT_WITHIN_MS = 2000

/** Input of `QuotaCharges`. */
export interface QuotaChargesOptions {
  readonly ledger: CallLedger
  readonly plans: Plans
  /** Lease of a held call until its answer begins, in milliseconds. */
  readonly leaseMs: number
  readonly log: Log
}

/** A quota charge with its ends; each takes effect once. */
export interface OpenCharge extends QuotaCharge {
  /** Counts the call: its answer begins. */
  count(): void
  /**
   * Waives the call: there is no answer. Resolves when the call is free again; while that is still to be sent at once, or
   * after two seconds.
   */
  waive(): Promise<void>
}

/** Charges calls to the plans of accounts. */
export class QuotaCharges {
  readonly #options: QuotaChargesOptions
  readonly #open = new TransientMap<OpenCharge>()
  readonly #ends: BufferedWriter<CallEnd>

  constructor(options: QuotaChargesOptions) {
    this.#options = options
    this.#ends = new BufferedWriter({
      put: (ends) => this.#send(ends),
      log: options.log,
      event: 'calls.ends-not-sent',
      mostAtOnce: MOST_AT_ONCE,
      momentMs: PERIOD_MS,
      pauseMs: PERIOD_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      warnEveryMs: LONGEST_PAUSE_MS,
      retriesAtEnd: false,
      mostWaiting: MOST_WAITING,
    })
  }

  /** Opens the charge of a request, which is to be counted or waived; `undefined` for a caller without an account. */
  open(requestId: string, { userId }: Caller): OpenCharge | undefined {
    if (userId === undefined) return undefined
    const { ledger, plans, leaseMs } = this.#options
    const order: CallOrder = { holdId: requestId, accountId: userId, calls: 1, plans, leaseMs }
    const charge = new PlanCallCharge(order, {
      ledger,
      onClosed: () => this.#open.delete(requestId),
      onEnd: (end) => this.#ends.add(end),
      onWaived: () => this.flush().catch(() => {}), // The writer logs what waits.
    })
    this.#open.set(requestId, charge)
    return charge
  }

  /** Finds the open charge of a request. */
  readonly find: ChargeOf = (requestId) => this.#open.get(requestId)

  /** Sends all waiting ends to the ledger. Rejects while it does not reply, or after two seconds: they wait on. */
  async flush(): Promise<void> {
    if (await this.#ends.flush(SENT_WITHIN_MS)) return
    throw new GatewayError('service_unavailable', 'The ends of calls are not sent yet: the database fails or is slow.')
  }

  /** Sends all waiting ends, for at most `timeoutMs`; the rest, and all once one fails, end with their leases. */
  close(timeoutMs: number): Promise<void> {
    return this.#ends.close(timeoutMs)
  }

  async #send(ends: readonly CallEnd[]): Promise<void> {
    const { ledger, log } = this.#options
    try {
      await ledger.end(ends)
    } catch (error) {
      const isRefused = !(error instanceof GatewayError) || error.code !== 'service_unavailable'
      const [end] = ends
      if (isRefused && ends.length === 1)
        log.error({ holdId: end?.holdId, reason: messageOf(error) }, 'calls.end-refused')
      throw error
    }
  }
}

interface PlanCallChargeOptions {
  readonly ledger: CallLedger
  /** Called at the end of the request. */
  readonly onClosed: () => void
  readonly onEnd: (end: CallEnd) => void
  /** Sends the ends at once. */
  readonly onWaived: () => Promise<void>
}

class PlanCallCharge implements OpenCharge {
  readonly #order: CallOrder
  readonly #options: PlanCallChargeOptions
  /** True once a hold was requested from the ledger. */
  #isOrdered = false
  #isHeld = false
  #isEnded = false

  constructor(order: CallOrder, options: PlanCallChargeOptions) {
    this.#order = order
    this.#options = options
  }

  order(): CallOrder | undefined {
    if (this.#isHeld) return undefined
    this.#isOrdered = true
    return this.#order
  }

  accept(result: CallReservation): void {
    this.#isHeld = result.ok
    // Until it is requested again there is nothing to end.
    this.#isOrdered = result.ok
    if (!result.ok) throw callRefusal(result.refused)
  }

  async hold(): Promise<void> {
    const order = this.order()
    if (order !== undefined) this.accept(await this.#options.ledger.take(order))
  }

  count(): void {
    this.#end(this.#isHeld ? 1 : 0)
  }

  async waive(): Promise<void> {
    // Without a known hold the caller does not wait: the database may be what failed.
    if (this.#end(0) && this.#isHeld) await this.#options.onWaived()
  }

  /** Returns true when there was something to end, and this is the first end. */
  #end(usedCalls: number): boolean {
    this.#options.onClosed()
    // A requested hold may exist even if its reply was lost.
    if (this.#isEnded || !this.#isOrdered) return false
    this.#isEnded = true
    const { holdId, accountId } = this.#order
    this.#options.onEnd({ holdId, accountId, usedCalls })
    return true
  }
}
