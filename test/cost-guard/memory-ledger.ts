import type { Reservation, SpendHold, SpendLedger, SpendWindow } from '../../src/core/ports/spend-ledger.ts'

interface OpenHold {
  amountNanoUsd: number
  windows: readonly SpendWindow[]
  isSettled: boolean
}

/** A ledger in memory, for tests of the calls to it. */
export interface MemoryLedger extends SpendLedger {
  /** Settled and held in a window. */
  sums(window: Pick<SpendWindow, 'scope' | 'window'>): { settledNanoUsd: number; heldNanoUsd: number }
  /** Returns how often `settle` was called for a hold. */
  settles(holdId: string): number
}

/** Makes one; `answer` lets each call wait, or fail. */
export function createMemoryLedger(answer: () => Promise<void> = async () => {}): MemoryLedger {
  const holds = new Map<string, OpenHold>()
  const settled = new Map<string, number>()
  const settles = new Map<string, number>()
  const keyOf = ({ scope, window }: Pick<SpendWindow, 'scope' | 'window'>) => `${scope} ${window}`
  const sums: MemoryLedger['sums'] = (window) => {
    const open = [...holds.values()].filter(
      ({ isSettled, windows }) => !isSettled && windows.some((other) => keyOf(other) === keyOf(window)),
    )
    return {
      settledNanoUsd: settled.get(keyOf(window)) ?? 0,
      heldNanoUsd: open.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0),
    }
  }
  const refusalIn = (windows: readonly SpendWindow[], moreNanoUsd: number): Reservation | undefined => {
    for (const window of windows) {
      const { settledNanoUsd, heldNanoUsd } = sums(window)
      const spentNanoUsd = settledNanoUsd + heldNanoUsd
      if (spentNanoUsd + moreNanoUsd > window.limitNanoUsd) return { ok: false, refusedBy: window, spentNanoUsd }
    }
    return undefined
  }
  const admission = (windows: readonly SpendWindow[]): Reservation => ({
    ok: true,
    standing: windows.map((window) => ({ ...window, ...sums(window) })),
  })
  return {
    sums,
    settles: (holdId) => settles.get(holdId) ?? 0,
    async reserve({ holdId, amountNanoUsd, spareNanoUsd = 0, windows }: SpendHold) {
      await answer()
      const refusal = refusalIn(windows, amountNanoUsd + spareNanoUsd)
      if (refusal !== undefined) return refusal
      holds.set(holdId, { amountNanoUsd, windows, isSettled: false })
      return admission(windows)
    },
    async grow({ holdId, toNanoUsd }) {
      await answer()
      const hold = holds.get(holdId)
      if (hold === undefined || hold.isSettled) throw new Error('no such hold')
      const refusal = refusalIn(hold.windows, toNanoUsd - hold.amountNanoUsd)
      if (refusal !== undefined) return refusal
      hold.amountNanoUsd = Math.max(hold.amountNanoUsd, toNanoUsd)
      return admission(hold.windows)
    },
    async settle({ holdId, costNanoUsd }) {
      settles.set(holdId, (settles.get(holdId) ?? 0) + 1)
      await answer()
      const hold = holds.get(holdId)
      if (hold === undefined) throw new Error('no such hold')
      if (hold.isSettled) return
      hold.isSettled = true
      for (const window of hold.windows) settled.set(keyOf(window), (settled.get(keyOf(window)) ?? 0) + costNanoUsd)
    },
    spent: async (windows) => windows.map(sums),
  }
}
