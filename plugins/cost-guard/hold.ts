import type { GatewayError } from 'turnpike/plugin'
import type { Reservation, SpendLedger, SpendSums, SpendWindow } from 'turnpike/plugin/spend'
import type { WindowBalance } from './budget-headers.ts'
import { requestRefusal, windowRefusal } from './refusal.ts'
import type { Budget, BudgetWindow } from './windows.ts'

/** Lease of a hold: without a renewal it counts as spent, since a crash must not free money that was used. */
const LEASE_MS = 15 * 60_000

/** Refused hold: the amount that would have fitted, and the error for the client. */
export interface Refused {
  readonly fitsNanoUsd: number
  refuse(): GatewayError
}

/** Inputs of a hold. */
export interface HoldFacts {
  readonly budget: Pick<Budget, 'perRequestNanoUsd' | 'windows'>
  readonly atMs: number
}

/** Hold of one request: taken before money is spent, raised during a stream, settled once. */
export class Hold {
  readonly #ledger: SpendLedger
  readonly #id: string
  readonly #budget: HoldFacts['budget']
  readonly #atMs: number
  #heldNanoUsd = 0
  #isHeld = false
  #balances: readonly WindowBalance[] = []
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

  /** Balances of the windows at the time of the hold, including it. */
  get balances(): readonly WindowBalance[] {
    return this.#balances
  }

  /** Returns the current balances, for a request that holds nothing. Rejects when the ledger fails. */
  async currentBalances(): Promise<readonly WindowBalance[]> {
    const { windows } = this.#budget
    if (windows.length === 0) return []
    const sums = await this.#ledger.spent(windows)
    return windows.map((window, index) => ({ ...window, ...(sums[index] ?? NOTHING) }))
  }

  /** Most that the request itself may cost. */
  get perRequestNanoUsd(): number {
    return this.#budget.perRequestNanoUsd ?? Number.MAX_SAFE_INTEGER
  }

  /**
   * Holds the amount if `spareNanoUsd` remains in every window. Otherwise returns the amount that would have fitted
   * without the spare, possibly zero. Rejects with `service_unavailable` when the ledger fails, and releases a hold
   * that may have been taken.
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
      this.#balances = windows.map((window) => ({ ...window, ...sumsOf(window, result) }))
    }
    this.#heldNanoUsd = amountNanoUsd
    this.#isHeld = true
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
      // The statement may have been executed. Settling without a hold is a harmless error.
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

  /** Settles the hold with the cost of the request; only the first call counts. Rejects when the ledger fails. */
  settle(costNanoUsd: number): Promise<void> {
    this.#settling ??=
      this.#budget.windows.length === 0 ? Promise.resolve() : this.#ledger.settle({ holdId: this.#id, costNanoUsd })
    return this.#settling
  }

  /** Releases the hold, if it was taken. Rejects when the ledger fails. */
  async release(): Promise<void> {
    if (this.#isHeld) await this.settle(0)
  }

  #refused(refusal: Extract<Reservation, { ok: false }>, estimatedNanoUsd: number): Refused {
    const { refusedBy, spentNanoUsd, raisedNanoUsd = 0 } = refusal
    // Safe: the windows are those of the request.
    const window = this.#budget.windows.find((window) => isSame(window, refusedBy)) as BudgetWindow
    return {
      fitsNanoUsd: Math.max(0, window.limitNanoUsd + raisedNanoUsd - spentNanoUsd),
      refuse: () => windowRefusal(window, { spentNanoUsd, raisedNanoUsd, estimatedNanoUsd, atMs: this.#atMs }),
    }
  }
}

const NOTHING: SpendSums = { settledNanoUsd: 0, heldNanoUsd: 0 }

/** Returns the sums of a window. The ledger's own limit is ignored: it may have been lowered for the query. */
function sumsOf(window: BudgetWindow, { standing }: Extract<Reservation, { ok: true }>): SpendSums {
  const found = standing.find((other) => isSame(window, other)) ?? NOTHING
  const { settledNanoUsd, heldNanoUsd, raisedNanoUsd, begunAtMs } = found
  if (raisedNanoUsd === undefined || begunAtMs === undefined) return { settledNanoUsd, heldNanoUsd }
  return { settledNanoUsd, heldNanoUsd, raisedNanoUsd, begunAtMs }
}

function isSame(one: SpendWindow, other: SpendWindow): boolean {
  return one.scope === other.scope && one.window === other.window
}
