import { randomUUID } from 'node:crypto'
import type { SpendWindow, WindowStanding } from '../../core/ports.ts'
import type { RollOutcome, SpendRoll } from './spend-roll.ts'

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
  /** Holds of which nobody knows whether they have begun or ended. */
  #doubtful: SpendRoll['ends'] = []
  #rolling: Promise<void> | undefined
  #draws = 0
  #drawnNanoUsd = 0

  constructor(options: TillOptions) {
    this.#options = options
  }

  /** Whether nothing is held, owed or in doubt. */
  get isEmpty(): boolean {
    const isSettled = this.#openNanoUsd === 0 && this.#spentNanoUsd === 0 && this.#doubtful.length === 0
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
    if (standing.every((window) => leftIn(window) >= spareNanoUsd)) return standing
    this.#openNanoUsd -= amountNanoUsd
    return undefined
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
    this.#openNanoUsd -= drawnNanoUsd
    this.#spentNanoUsd += costNanoUsd
  }

  /**
   * Tells the database what was spent, gives back what is not needed and takes what the next period may need. `isLast`
   * takes nothing. Rejects when the database does not answer; the next roll makes up for it.
   */
  roll({ isLast }: { isLast: boolean }): Promise<void> {
    this.#rolling ??= this.#roll(isLast).finally(() => {
      this.#rolling = undefined
    })
    return this.#rolling
  }

  async #roll(isLast: boolean): Promise<void> {
    const wantNanoUsd = isLast || this.#draws < FEWEST_DRAWS ? 0 : Math.ceil(ROOM * this.#drawnNanoUsd)
    this.#draws = 0
    this.#drawnNanoUsd = 0
    if (wantNanoUsd === 0 && !this.#isDue()) return
    await this.#clearDoubts()
    const { windows, leaseMs, roll } = this.#options
    const ends = this.#holdId === undefined ? [] : [{ holdId: this.#holdId, costNanoUsd: this.#spentNanoUsd }]
    if (this.#holdId !== undefined) this.#spentNanoUsd = 0
    const keepNanoUsd = this.#openNanoUsd + this.#spentNanoUsd
    const begin =
      keepNanoUsd + wantNanoUsd === 0
        ? undefined
        : { holdId: `till-${randomUUID()}`, keepNanoUsd, wantNanoUsd, shareOfLeft: SHARE_OF_LEFT, windows, leaseMs }
    // Until the answer is there the till gives nothing, and nobody knows what is held.
    this.#holdId = undefined
    this.#doubtful = begin === undefined ? ends : [...ends, { holdId: begin.holdId, costNanoUsd: 0 }]
    const { heldNanoUsd, standing } = await roll({ ends, begin })
    this.#doubtful = []
    this.#holdId = begin?.holdId
    this.#heldNanoUsd = heldNanoUsd
    this.#standing = standing
    this.#begunAtMs = performance.now()
  }

  /** Ends, after a roll that was not answered, the holds from before it and from it, whichever of them there is. */
  async #clearDoubts(): Promise<void> {
    if (this.#doubtful.length === 0) return
    await this.#options.roll({ ends: this.#doubtful, begin: undefined })
    this.#doubtful = []
  }

  #isDue(): boolean {
    if (this.#doubtful.length > 0 || this.#spentNanoUsd > 0) return true
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
