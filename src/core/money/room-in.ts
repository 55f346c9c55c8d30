import type { SpendSums, SpendWindow } from '../ports/spend-ledger.ts'

/** Returns what is left of a window's limit, in its own unit; negative where more is spent than the limit. */
export function roomIn(window: Pick<SpendWindow, 'limitNanoUsd'> & SpendSums): number {
  const { limitNanoUsd, raisedNanoUsd = 0, settledNanoUsd, heldNanoUsd } = window
  return limitNanoUsd + raisedNanoUsd - settledNanoUsd - heldNanoUsd
}
