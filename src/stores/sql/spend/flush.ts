import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { roomIn } from '../../../core/money/room-in.ts'
import type { SpendSums, SpendWindow, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { createHold, raiseHold, raiseSpend, type SpendEnd, settleSpend } from './holds.ts'
import { changeWindow, holdInWindow, inLockOrder } from './windows.ts'

/**
 * Holds that end, with the money spent of them, and one that takes over what is still open in them. Idempotent: the same
 * flush again returns what is held.
 */
export interface SpendFlush {
  readonly ends: readonly SpendEnd[]
  readonly begin: FlushBegin | undefined
}

/** The hold that begins. */
export interface FlushBegin {
  readonly holdId: string
  /** Money that is already owed; held whatever the limits are. */
  readonly keepNanoUsd: number
  /** Further money, up to this share of the rest of each window. */
  readonly wantNanoUsd: number
  readonly shareOfLeft: number
  readonly windows: readonly SpendWindow[]
  readonly leaseMs: number
}

/** The amount held now, and the sums of its windows, this hold included. */
export interface FlushOutcome {
  readonly heldNanoUsd: number
  readonly standing: readonly WindowStanding[]
}

/** Ends holds and begins one, in one step. */
export const flushSpend: Command<SpendFlush, FlushOutcome> = async (db, { ends, begin }, now) => {
  await settleSpend(db, ends, now)
  if (begin === undefined) return { heldNanoUsd: 0, standing: [] }
  const { holdId, keepNanoUsd, leaseMs } = begin
  const windows = inLockOrder(begin.windows, (window) => window)
  const given = { id: holdId, amountNanoUsd: keepNanoUsd, windows: JSON.stringify(windows), leaseMs }
  const [created] = await createHold(db, given, now)
  if (created === undefined) return raiseSpend(db, { holdId, toNanoUsd: 0, leaseMs }, now)
  const standing: WindowStanding[] = []
  for (const window of windows) standing.push({ ...window, ...(await keepInWindow(db, window, keepNanoUsd, now)) })
  const grantNanoUsd = grantFrom(standing, begin)
  if (grantNanoUsd === 0) return { heldNanoUsd: keepNanoUsd, standing }
  const heldNanoUsd = keepNanoUsd + grantNanoUsd
  await raiseHold(db, { id: holdId, toNanoUsd: heldNanoUsd, leaseMs }, now)
  const granted: WindowStanding[] = []
  // The rows are locked since their sums were read.
  for (const window of windows)
    granted.push({
      ...window,
      ...(await changeWindow(db, window, { settledNanoUsd: 0, heldNanoUsd: grantNanoUsd })),
    })
  return { heldNanoUsd, standing: granted }
}

/** Holds money that is already owed, whatever the limit. */
async function keepInWindow(
  db: Kysely<Database>,
  window: SpendWindow,
  amountNanoUsd: number,
  now: Moment,
): Promise<SpendSums> {
  const sums = await holdInWindow(db, window, { amountNanoUsd, mostNanoUsd: Number.MAX_SAFE_INTEGER }, now)
  if (sums !== undefined) return sums
  throw new GatewayError('internal_error', `The spend of ${window.window} is beyond what can be counted.`)
}

/** Returns the wanted amount, or the share of the rest of the window with the least. */
function grantFrom(standing: readonly WindowStanding[], { wantNanoUsd, shareOfLeft }: FlushBegin): number {
  const shares = standing.map((window) => Math.floor(roomIn(window) * shareOfLeft))
  return Math.max(0, Math.min(wantNanoUsd, ...shares))
}
