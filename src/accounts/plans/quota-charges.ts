import { GatewayError, messageOf } from '../../core/errors.ts'
import type { Plans } from '../../core/money/plans.ts'
import type { Fee } from '../../core/money/quota-charge.ts'
import type { CallEnd, CallLedger, CallOrder, CallReservation } from '../../core/ports/calls.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Caller } from '../../core/request/caller.ts'
import { callRefusal } from './refusal.ts'

/**
 * DESIGN — fees
 *
 *   request ──hold──► ledger: with the guard's money, or alone before the provider is asked or a cache answers
 *      │                                                    └─ 402, 429
 *      └─ the answer begins: count ─┐
 *         there is none: waive ─────┴─► ends that wait ──four times a second, or at once──► one transaction for all of them
 *
 * A hold is made before anybody is asked, so no plan is overrun. That an answer has begun decides nothing any more, so
 * nobody waits for that to be told: such ends are told together. Who gets no answer waits until what was held is free, so
 * that nobody's next try is refused for the last one. What the database did not answer is told again. After a crash a
 * hold ends with its lease, and what it held is free: a call that nobody could count is not charged.
 */
const PERIOD_MS = 250
/** Ends that are told in one transaction. */
const MOST_AT_ONCE = 64
/** Ends that wait while the database does not answer; those beyond are left to their leases. */
const MOST_WAITING = 20_000

/** What fees are taken with. */
export interface QuotaChargesOptions {
  readonly ledger: CallLedger
  readonly plans: Plans
  /** How long a call is held for a request whose answer has not begun. */
  readonly leaseMs: number
  readonly log: Log
}

/** Takes the fees of requests, by the plans of their accounts. */
export class QuotaCharges {
  readonly #options: QuotaChargesOptions
  readonly #ends: CallEnd[] = []
  readonly #timer: NodeJS.Timeout
  #telling: Promise<void> | undefined
  #dropped = 0

  constructor(options: QuotaChargesOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#tellQuietly(), PERIOD_MS).unref()
  }

  /** The fee of a request; `undefined` for a caller without an account. */
  of(requestId: string, { userId }: Caller): Fee | undefined {
    if (userId === undefined) return undefined
    const { ledger, plans, leaseMs } = this.#options
    const order: CallOrder = { holdId: requestId, accountId: userId, calls: 1, plans, leaseMs }
    return new PlanCallCharge(order, {
      ledger,
      onEnd: (end) => this.#note(end),
      onWaived: () => this.flush().catch((error: unknown) => this.#warn(error)),
    })
  }

  /** Tells the ledger of all ends that wait now. Rejects when it does not answer. */
  async flush(): Promise<void> {
    // What is being told may have been put together before the last end came.
    await this.#telling?.catch(() => {})
    await this.#tellOnce()
  }

  /** As `flush`, at the end: what cannot be told ends with its lease. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch((error: unknown) => this.#warn(error))
  }

  #note(end: CallEnd): void {
    if (this.#ends.length < MOST_WAITING) this.#ends.push(end)
    else this.#dropped++
  }

  #tellQuietly(): void {
    if (this.#ends.length === 0) return
    this.#tellOnce().catch((error: unknown) => this.#warn(error))
  }

  #tellOnce(): Promise<void> {
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined
    })
    return this.#telling
  }

  async #tell(): Promise<void> {
    while (this.#ends.length > 0) {
      const ends = this.#ends.slice(0, MOST_AT_ONCE)
      await this.#tellTogether(ends)
      // An end that is told twice changes nothing; one that is not told would.
      this.#ends.splice(0, ends.length)
    }
  }

  /** What the ledger refuses for good is told one by one, so that one end keeps no other back, and then dropped. */
  async #tellTogether(ends: readonly CallEnd[]): Promise<void> {
    const { ledger, log } = this.#options
    try {
      await ledger.end(ends)
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'service_unavailable') throw error
      const [end] = ends
      if (ends.length > 1) for (const one of ends) await this.#tellTogether([one])
      else log.error({ holdId: end?.holdId, reason: messageOf(error) }, 'calls.end-refused')
    }
  }

  #warn(error: unknown): void {
    const { log } = this.#options
    log.warn({ reason: messageOf(error), waiting: this.#ends.length, dropped: this.#dropped }, 'calls.ends-not-told')
  }
}

interface PlanCallChargeOptions {
  readonly ledger: CallLedger
  readonly onEnd: (end: CallEnd) => void
  /** What was ended is told at once. */
  readonly onWaived: () => Promise<void>
}

class PlanCallCharge implements Fee {
  readonly #order: CallOrder
  readonly #options: PlanCallChargeOptions
  /** Of the ledger. */
  #isOrdered = false
  #isHeld = false
  /** Somebody, for the answer. */
  #isAsked = false
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
    // Until it is ordered again there is nothing to end.
    this.#isOrdered = result.ok
    if (!result.ok) throw callRefusal(result.refused)
  }

  async hold(): Promise<void> {
    const order = this.order()
    if (order !== undefined) this.accept(await this.#options.ledger.take(order))
  }

  markAsked(): void {
    this.#isAsked = true
  }

  count(): void {
    this.#end(this.#isHeld ? 1 : 0)
  }

  async leave(): Promise<void> {
    if (this.#isAsked) this.count()
    else await this.waive()
  }

  async waive(): Promise<void> {
    // Where nothing is known to be held nobody waits: the database may be what failed.
    if (this.#end(0) && this.#isHeld) await this.#options.onWaived()
  }

  /** Whether there was something to end, and this is the first end. */
  #end(usedCalls: number): boolean {
    // What was asked for may be held even if the answer was lost.
    if (this.#isEnded || !this.#isOrdered) return false
    this.#isEnded = true
    const { holdId, accountId } = this.#order
    this.#options.onEnd({ holdId, accountId, usedCalls })
    return true
  }
}
