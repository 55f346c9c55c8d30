import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../../core/errors.ts'
import { roomIn } from '../../../core/money/room-in.ts'
import type { SpendWindow, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import type { FlushOutcome, SpendFlush } from './flush.ts'

/** The largest share of the rest of a window that a pool takes, so that the loss of a pool in a crash is small. */
const SHARE_OF_LEFT = 1 / 1000
/** Fewer requests in a period do not justify a pool. */
const FEWEST_ALLOCATIONS = 4
/** Factor on the last period's need, so that the pool seldom runs dry. */
const ROOM = 1.5
const RENEWED_AFTER = 1 / 3

/** Input of `ReservationPool`. */
export interface ReservationPoolOptions {
  readonly windows: readonly SpendWindow[]
  readonly leaseMs: number
  readonly flush: (flush: SpendFlush) => Promise<FlushOutcome>
}

/** Money reserved for many future requests of one caller, allocated in memory and settled periodically. */
export class ReservationPool {
  readonly #options: ReservationPoolOptions
  #holdId: string | undefined
  #heldNanoUsd = 0
  #begunAtMs = 0
  #openNanoUsd = 0
  /** Spent part of the held money, not yet sent to the database. */
  #spentNanoUsd = 0
  #standing: readonly WindowStanding[] = []
  /** A flush without a reply: it may have happened, so it is sent again before any other. */
  #unanswered: SpendFlush | undefined
  #flushing: Promise<void> | undefined
  #flushingLast: Promise<void> | undefined
  #openAllocations = 0
  /** Count of this period. */
  #allocations = 0
  #allocatedNanoUsd = 0

  constructor(options: ReservationPoolOptions) {
    this.#options = options
  }

  /** True when nothing is held, owed or in doubt. */
  get isEmpty(): boolean {
    const isSettled = this.#openAllocations === 0 && this.#spentNanoUsd === 0 && this.#unanswered === undefined
    return isSettled && this.#holdId === undefined && this.#allocations === 0
  }

  get windows(): readonly SpendWindow[] {
    return this.#options.windows
  }

  /** True when it holds money that no request uses, or may: a flush is in doubt. */
  get mayHaveRest(): boolean {
    return this.#unanswered !== undefined || (this.#holdId !== undefined && this.#freeNanoUsd > 0)
  }

  /** The sums of its windows as they would be if each request had a hold of its own; as old as the last flush. */
  get standing(): readonly WindowStanding[] {
    const unusedNanoUsd = this.#freeNanoUsd
    return this.#standing.map((window) => ({
      ...window,
      settledNanoUsd: window.settledNanoUsd + this.#spentNanoUsd,
      heldNanoUsd: window.heldNanoUsd - unusedNanoUsd - this.#spentNanoUsd,
    }))
  }

  /** Allocates a request's money, if that and the spare are available; returns the sums of the windows, this request included. */
  allocate(amountNanoUsd: number, spareNanoUsd: number): readonly WindowStanding[] | undefined {
    this.note(amountNanoUsd)
    if (!this.#take(amountNanoUsd)) return undefined
    const { standing } = this
    if (!standing.every((window) => roomIn(window) >= spareNanoUsd)) {
      this.#openNanoUsd -= amountNanoUsd
      return undefined
    }
    this.#openAllocations++
    return standing
  }

  /** Counts a request, whether the pool can serve it or not, to estimate the next period's need. */
  note(amountNanoUsd: number): void {
    this.#allocations++
    this.#allocatedNanoUsd += amountNanoUsd
  }

  /** Raises the allocation of a request. */
  raise(byNanoUsd: number): boolean {
    if (!this.#take(byNanoUsd)) return false
    this.#allocatedNanoUsd += byNanoUsd
    return true
  }

  /** Ends an allocated request. */
  spend(allocatedNanoUsd: number, costNanoUsd: number): void {
    this.#openAllocations--
    this.#openNanoUsd -= allocatedNanoUsd
    this.#spentNanoUsd += costNanoUsd
  }

  /**
   * Sends the spent amount to the database, returns the unneeded rest and reserves for the next period. Rejects when
   * the database does not reply; the next flush makes up for it.
   */
  flush(): Promise<void> {
    return this.#begin({ isLast: false })
  }

  /** Does the same without a new reservation: everything that is not open is returned, and all spending is sent. */
  flushLast(): Promise<void> {
    this.#flushingLast ??= this.#flushOut().finally(() => {
      this.#flushingLast = undefined
    })
    return this.#flushingLast
  }

  async #flushOut(): Promise<void> {
    await this.#flushing?.catch(() => {})
    await this.#begin({ isLast: true })
    // Money spent while nothing was held is only held so far.
    if (this.#spentNanoUsd > 0) await this.#begin({ isLast: true })
  }

  #begin(how: { isLast: boolean }): Promise<void> {
    this.#flushing ??= this.#flush(how).finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  async #flush({ isLast }: { isLast: boolean }): Promise<void> {
    const wantNanoUsd = isLast || this.#allocations < FEWEST_ALLOCATIONS ? 0 : Math.ceil(ROOM * this.#allocatedNanoUsd)
    this.#allocations = 0
    this.#allocatedNanoUsd = 0
    if (wantNanoUsd === 0 && !this.#isDue()) return
    if (this.#unanswered !== undefined) await this.#send(this.#unanswered)
    const { windows, leaseMs } = this.#options
    const ends = this.#holdId === undefined ? [] : [{ holdId: this.#holdId, costNanoUsd: this.#spentNanoUsd }]
    if (this.#holdId !== undefined) this.#spentNanoUsd = 0
    const keepNanoUsd = this.#openNanoUsd + this.#spentNanoUsd
    const begin =
      keepNanoUsd + wantNanoUsd === 0
        ? undefined
        : { holdId: `pool-${randomUUID()}`, keepNanoUsd, wantNanoUsd, shareOfLeft: SHARE_OF_LEFT, windows, leaseMs }
    await this.#send({ ends, begin })
  }

  /** Sends a flush. Until its reply the pool allocates nothing, since the held amount is unknown. */
  async #send(flush: SpendFlush): Promise<void> {
    this.#unanswered = flush
    this.#holdId = undefined
    try {
      const { heldNanoUsd, standing } = await this.#options.flush(flush)
      this.#holdId = flush.begin?.holdId
      this.#heldNanoUsd = heldNanoUsd
      this.#standing = standing
      this.#begunAtMs = performance.now()
      this.#unanswered = undefined
    } catch (error) {
      // A flush that the database refused did not happen. The earlier hold counts in full when its lease ends.
      if (!(error instanceof GatewayError) || error.code !== 'service_unavailable') this.#unanswered = undefined
      throw error
    }
  }

  #isDue(): boolean {
    if (this.#unanswered !== undefined || this.#spentNanoUsd > 0) return true
    if (this.#holdId === undefined) return this.#openNanoUsd > 0
    const isOld = performance.now() - this.#begunAtMs > RENEWED_AFTER * this.#options.leaseMs
    return isOld || this.#freeNanoUsd > 0
  }

  get #freeNanoUsd(): number {
    return this.#heldNanoUsd - this.#openNanoUsd - this.#spentNanoUsd
  }

  #take(amountNanoUsd: number): boolean {
    if (this.#holdId === undefined || this.#freeNanoUsd < amountNanoUsd) return false
    this.#openNanoUsd += amountNanoUsd
    return true
  }
}
