import type { GatewayError } from 'turnpike/plugin'
import type { Reservation, SpendLedger, SpendSums, SpendWindow } from 'turnpike/plugin/spend'
import { requestRefusal, windowRefusal } from './refusal.ts'
import type { Standing } from './standing.ts'
import type { Budget, BudgetWindow } from './windows.ts'

/** After this long without a renewal a hold counts as spent: a crash must not free money that was used. */
const LEASE_MS = 15 * 60_000

/** Why an amount is not held: how much would have fitted, and the answer for the client if nothing else is tried. */
export interface Refused {
  readonly fitsNanoUsd: number
  refuse(): GatewayError
}

/** What a hold is made for. */
export interface HoldFacts {
  readonly budget: Budget
  readonly atMs: number
}

/** The money of one request: held before it is spent, raised while a stream runs, settled once. */
export class Hold {
  readonly #ledger: SpendLedger
  readonly #id: string
  readonly #budget: Budget
  readonly #atMs: number
  #heldNanoUsd = 0
  #standing: readonly Standing[] = []
  #settling: Promise<void> | undefined

  constructor(ledger: SpendLedger, id: string, { budget, atMs }: HoldFacts) {
    this.#ledger = ledger
    this.#id = id
    this.#budget = budget
    this.#atMs = atMs
  }

  get heldNanoUsd(): number {
    return this.#heldNanoUsd
  }

  /** What was spent and held in the windows when the money was held, with this hold. */
  get standing(): readonly Standing[] {
    return this.#standing
  }

  /** The same as of now, for a request that holds nothing. Rejects when the ledger does not answer. */
  async currentStanding(): Promise<readonly Standing[]> {
    const { windows } = this.#budget
    if (windows.length === 0) return []
    const sums = await this.#ledger.spent(windows)
    return windows.map((window, index) => ({ ...window, ...(sums[index] ?? NOTHING) }))
  }

  /** The most that the request itself may cost. */
  get perRequestNanoUsd(): number {
    return this.#budget.perRequestNanoUsd ?? Number.MAX_SAFE_INTEGER
  }

  /**
   * Holds the amount, if `spareNanoUsd` is left beside it in every window. Otherwise how much would have fitted without
   * that: maybe nothing. Rejects with `service_unavailable` when the ledger does not answer, and lets go of what it may
   * have held.
   */
  async reserve(amountNanoUsd: number, spareNanoUsd = 0): Promise<Refused | undefined> {
    const { perRequestNanoUsd, windows } = this.#budget
    if (perRequestNanoUsd !== undefined && amountNanoUsd > perRequestNanoUsd)
      return {
        fitsNanoUsd: perRequestNanoUsd,
        refuse: () => requestRefusal(perRequestNanoUsd, amountNanoUsd, this.#atMs),
      }
    if (windows.length > 0) {
      const result = await this.#reserveInWindows(amountNanoUsd, spareNanoUsd)
      if (!result.ok) return this.#refused(result, amountNanoUsd)
      this.#standing = windows.map((window) => ({ ...window, ...sumsOf(window, result) }))
    }
    this.#heldNanoUsd = amountNanoUsd
    return undefined
  }

  async #reserveInWindows(amountNanoUsd: number, spareNanoUsd: number): Promise<Reservation> {
    const { windows } = this.#budget
    try {
      return await this.#ledger.reserve({
        holdId: this.#id,
        amountNanoUsd,
        spareNanoUsd,
        windows,
        leaseMs: LEASE_MS,
      })
    } catch (error) {
      // It may have happened all the same. Without a hold there is nothing to settle, which is an error, and well.
      void this.settle(0).catch(() => {})
      throw error
    }
  }

  /** Raises the hold; `false` when that does not fit. */
  async grow(toNanoUsd: number): Promise<boolean> {
    const { perRequestNanoUsd, windows } = this.#budget
    if (perRequestNanoUsd !== undefined && toNanoUsd > perRequestNanoUsd) return false
    if (windows.length > 0) {
      const result = await this.#ledger.grow({ holdId: this.#id, toNanoUsd, leaseMs: LEASE_MS })
      if (!result.ok) return false
    }
    this.#heldNanoUsd = toNanoUsd
    return true
  }

  /** Ends the hold with what the request cost; only the first time counts. Rejects when the ledger does not answer. */
  settle(costNanoUsd: number): Promise<void> {
    this.#settling ??=
      this.#budget.windows.length === 0 ? Promise.resolve() : this.#ledger.settle({ holdId: this.#id, costNanoUsd })
    return this.#settling
  }

  #refused({ refusedBy, spentNanoUsd }: Extract<Reservation, { ok: false }>, estimatedNanoUsd: number): Refused {
    // Safe: the windows are those that were asked for.
    const window = this.#budget.windows.find((window) => isSame(window, refusedBy)) as BudgetWindow
    return {
      fitsNanoUsd: Math.max(0, window.limitNanoUsd - spentNanoUsd),
      refuse: () => windowRefusal(window, { spentNanoUsd, estimatedNanoUsd, atMs: this.#atMs }),
    }
  }
}

const NOTHING: SpendSums = { settledNanoUsd: 0, heldNanoUsd: 0 }

/** The answer's own limit is left out: it may have been lowered for the question. */
function sumsOf(window: BudgetWindow, { standing }: Extract<Reservation, { ok: true }>): SpendSums {
  const { settledNanoUsd, heldNanoUsd } = standing.find((other) => isSame(window, other)) ?? NOTHING
  return { settledNanoUsd, heldNanoUsd }
}

function isSame(one: SpendWindow, other: SpendWindow): boolean {
  return one.scope === other.scope && one.window === other.window
}
