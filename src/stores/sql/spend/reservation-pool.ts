import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../../core/errors.ts'
import type { SpendWindow, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import type { RollOutcome, SpendRoll } from './flush.ts'

/** Of what is left in a window a till takes no more than this part: it must not be felt, even if it is lost in a crash. */
const SHARE_OF_LEFT = 1 / 1000
/** Fewer requests in a period are not worth a till. */
const FEWEST_DRAWS = 4
/** More than was needed in the last period, so that the next seldom runs dry. */
const ROOM = 1.5
const RENEWED_AFTER = 1 / 3

/** What a till is made from. */
export interface TillOptions {
  readonly windows: readonly SpendWindow[]
  readonly leaseMs: number
  readonly roll: (roll: SpendRoll) => Promise<RollOutcome>
}

/** Money that is held for many requests to come, of one caller. It is given out in memory and accounted for now and then. */
export class SpendTill {
  readonly #options: TillOptions
  #holdId: string | undefined
  #heldNanoUsd = 0
  #begunAtMs = 0
  #openNanoUsd = 0
  /** Of what is held: spent, and not yet told the database. */
  #spentNanoUsd = 0
  #standing: readonly WindowStanding[] = []
  /** A roll that was not answered: it may have happened, so it is sent again before anything else. */
  #unanswered: SpendRoll | undefined
  #rolling: Promise<void> | undefined
  #rollingLast: Promise<void> | undefined
  #openDraws = 0
  /** Of this period. */
  #draws = 0
  #drawnNanoUsd = 0

  constructor(options: TillOptions) {
    this.#options = options
  }

  /** Whether nothing is held, owed or in doubt. */
  get isEmpty(): boolean {
    const isSettled = this.#openDraws === 0 && this.#spentNanoUsd === 0 && this.#unanswered === undefined
    return isSettled && this.#holdId === undefined && this.#draws === 0
  }

  /** The sums of its windows as they would be if each request had a hold of its own; as old as the last roll. */
  get standing(): readonly WindowStanding[] {
    const unusedNanoUsd = this.#freeNanoUsd
    return this.#standing.map((window) => ({
      ...window,
      settledNanoUsd: window.settledNanoUsd + this.#spentNanoUsd,
      heldNanoUsd: window.heldNanoUsd - unusedNanoUsd - this.#spentNanoUsd,
    }))
  }

  /** Takes a request's money, if that and the spare are there; gives the sums of the windows with it. */
  draw(amountNanoUsd: number, spareNanoUsd: number): readonly WindowStanding[] | undefined {
    this.note(amountNanoUsd)
    if (!this.#take(amountNanoUsd)) return undefined
    const { standing } = this
    if (!standing.every((window) => leftIn(window) >= spareNanoUsd)) {
      this.#openNanoUsd -= amountNanoUsd
      return undefined
    }
    this.#openDraws++
    return standing
  }

  /** Counts a request, whether the till can serve it or not: what is needed now will be needed again. */
  note(amountNanoUsd: number): void {
    this.#draws++
    this.#drawnNanoUsd += amountNanoUsd
  }

  /** Takes more for a request that has drawn before. */
  raise(byNanoUsd: number): boolean {
    if (!this.#take(byNanoUsd)) return false
    this.#drawnNanoUsd += byNanoUsd
    return true
  }

  /** Ends a request that had drawn an amount. */
  spend(drawnNanoUsd: number, costNanoUsd: number): void {
    this.#openDraws--
    this.#openNanoUsd -= drawnNanoUsd
    this.#spentNanoUsd += costNanoUsd
  }

  /**
   * Tells the database what was spent, gives back what is not needed and takes what the next period may need. Rejects when
   * the database does not answer; the next roll makes up for it.
   */
  roll(): Promise<void> {
    return this.#begin({ isLast: false })
  }

  /** The same, but takes nothing: all that is not open is given back, and all that was spent is told. */
  rollLast(): Promise<void> {
    this.#rollingLast ??= this.#rollAllOut().finally(() => {
      this.#rollingLast = undefined
    })
    return this.#rollingLast
  }

  async #rollAllOut(): Promise<void> {
    await this.#rolling?.catch(() => {})
    await this.#begin({ isLast: true })
    // What was spent while nothing was held is only held so far.
    if (this.#spentNanoUsd > 0) await this.#begin({ isLast: true })
  }

  #begin(how: { isLast: boolean }): Promise<void> {
    this.#rolling ??= this.#roll(how).finally(() => {
      this.#rolling = undefined
    })
    return this.#rolling
  }

  async #roll({ isLast }: { isLast: boolean }): Promise<void> {
    const wantNanoUsd = isLast || this.#draws < FEWEST_DRAWS ? 0 : Math.ceil(ROOM * this.#drawnNanoUsd)
    this.#draws = 0
    this.#drawnNanoUsd = 0
    if (wantNanoUsd === 0 && !this.#isDue()) return
    if (this.#unanswered !== undefined) await this.#send(this.#unanswered)
    const { windows, leaseMs } = this.#options
    const ends = this.#holdId === undefined ? [] : [{ holdId: this.#holdId, costNanoUsd: this.#spentNanoUsd }]
    if (this.#holdId !== undefined) this.#spentNanoUsd = 0
    const keepNanoUsd = this.#openNanoUsd + this.#spentNanoUsd
    const begin =
      keepNanoUsd + wantNanoUsd === 0
        ? undefined
        : { holdId: `till-${randomUUID()}`, keepNanoUsd, wantNanoUsd, shareOfLeft: SHARE_OF_LEFT, windows, leaseMs }
    await this.#send({ ends, begin })
  }

  /** Until the answer is there the till gives nothing: nobody knows what is held. */
  async #send(roll: SpendRoll): Promise<void> {
    this.#unanswered = roll
    this.#holdId = undefined
    try {
      const { heldNanoUsd, standing } = await this.#options.roll(roll)
      this.#holdId = roll.begin?.holdId
      this.#heldNanoUsd = heldNanoUsd
      this.#standing = standing
      this.#begunAtMs = performance.now()
      this.#unanswered = undefined
    } catch (error) {
      // What the database has refused for good did not happen. The hold before counts in full when its lease ends.
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

function leftIn({ limitNanoUsd, settledNanoUsd, heldNanoUsd }: WindowStanding): number {
  return limitNanoUsd - settledNanoUsd - heldNanoUsd
}
