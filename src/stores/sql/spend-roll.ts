import { GatewayError } from '../../core/errors.ts'
import type { SpendWindow, WindowStanding } from '../../core/ports.ts'
import type { Command } from './command.ts'
import { createHold, settleSpend } from './spend.ts'
import { changeWindow, holdInWindow, inLockOrder } from './spend-windows.ts'

/** Holds that end, with what was spent of them, and one that takes over what is still open in them. */
export interface SpendRoll {
  /** Those that have ended already, or never began, stay as they are: a roll may follow one whose fate is not known. */
  readonly ends: readonly { readonly holdId: string; readonly costNanoUsd: number }[]
  readonly begin: SpendRollBegin | undefined
}

/** The hold that begins. */
export interface SpendRollBegin {
  readonly holdId: string
  /** Money that is owed already; held whatever the limits are. */
  readonly keepNanoUsd: number
  /** More, as far as it is no larger than this part of what is left in each window. */
  readonly wantNanoUsd: number
  readonly shareOfLeft: number
  readonly windows: readonly SpendWindow[]
  readonly leaseMs: number
}

/** What is held now, and the sums of its windows with it. */
export interface RollOutcome {
  readonly heldNanoUsd: number
  readonly standing: readonly WindowStanding[]
}

/** Ends holds and begins one, in one step. */
export const rollSpend: Command<SpendRoll, RollOutcome> = async (db, { ends, begin }, now) => {
  for (const end of ends) await settleSpend(db, end, now)
  if (begin === undefined) return { heldNanoUsd: 0, standing: [] }
  const { holdId, keepNanoUsd, wantNanoUsd, shareOfLeft, leaseMs } = begin
  const windows = inLockOrder(begin.windows, (window) => window)
  let grantNanoUsd = wantNanoUsd
  const standing: WindowStanding[] = []
  for (const window of windows) {
    const sums = await holdInWindow(db, { ...window, limitNanoUsd: Number.MAX_SAFE_INTEGER }, keepNanoUsd)
    if (sums === undefined) throw new GatewayError('internal_error', `The spend of ${window.window} cannot be counted.`)
    const leftNanoUsd = window.limitNanoUsd - sums.settledNanoUsd - sums.heldNanoUsd
    grantNanoUsd = Math.max(0, Math.min(grantNanoUsd, Math.floor(leftNanoUsd * shareOfLeft)))
    standing.push({ ...window, ...sums })
  }
  const heldNanoUsd = keepNanoUsd + grantNanoUsd
  const given = { id: holdId, amountNanoUsd: heldNanoUsd, windows: JSON.stringify(windows), leaseMs }
  const [created] = await createHold(db, given, now)
  if (created === undefined) throw new GatewayError('internal_error', `The hold ${holdId} is there already.`)
  if (grantNanoUsd === 0) return { heldNanoUsd, standing }
  const grant = { settledNanoUsd: 0, heldNanoUsd: grantNanoUsd }
  // The rows are locked since they were read.
  for (const window of windows) await changeWindow(db, window, grant)
  return {
    heldNanoUsd,
    standing: standing.map((window) => ({ ...window, heldNanoUsd: window.heldNanoUsd + grantNanoUsd })),
  }
}
