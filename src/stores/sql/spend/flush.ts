import type { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { roomIn } from '../../../core/money/room-in.ts'
import type { SpendSums, SpendWindow, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { createHold, raiseHold, raiseSpend, type SpendEnd, settleSpend } from './holds.ts'
import { changeWindow, holdInWindow, inLockOrder } from './windows.ts'

/**
 * Report of a reservation pool: holds that end, with their final costs, and one new hold for the requests that are still
 * in-flight. Idempotent: the same flush again returns the amount that is held.
 */
export interface SpendFlush {
  readonly ends: readonly SpendEnd[]
  readonly begin: FlushBegin | undefined
}

/** The hold that begins. */
export interface FlushBegin {
  readonly holdId: string
  /** Amount that the pool has spent or that its in-flight requests hold; held even above the limits. */
  readonly keepNanoUsd: number
  /** Amount wanted in addition. */
  readonly wantNanoUsd: number
  /** Maximum share of each window's remaining amount that is granted, 0 to 1. */
  readonly shareOfLeft: number
  readonly windows: readonly SpendWindow[]
  readonly leaseMs: number
}

/** The amount held now, and the sums of its windows, this hold included. */
export interface FlushOutcome {
  readonly heldNanoUsd: number
  readonly standing: readonly WindowStanding[]
}

/** Ends holds and creates one, in one transaction. */
export const flushSpend: Command<SpendFlush, FlushOutcome> = async (db, { ends, begin }, now) => {
  await settleSpend(db, ends, now)
  if (begin === undefined) return { heldNanoUsd: 0, standing: [] }
  const { holdId, keepNanoUsd, leaseMs } = begin
  const windows = inLockOrder(begin.windows, (window) => window)
  const given = { id: holdId, amountNanoUsd: keepNanoUsd, windows: JSON.stringify(windows), leaseMs }
  const [created] = await createHold(db, given, now)
  // The flush is repeated: raising to 0 changes no amount and returns the held one.
  if (created === undefined) return raiseSpend(db, { holdId, toNanoUsd: 0, leaseMs }, now)
  const standing: WindowStanding[] = []
  for (const window of windows) standing.push({ ...window, ...(await keepInWindow(db, window, keepNanoUsd, now)) })
  const grantNanoUsd = grantFrom(standing, begin)
  if (grantNanoUsd === 0) return { heldNanoUsd: keepNanoUsd, standing }
  const heldNanoUsd = keepNanoUsd + grantNanoUsd
  await raiseHold(db, { id: holdId, toNanoUsd: heldNanoUsd, leaseMs }, now)
  const granted: WindowStanding[] = []
  // The rows have been locked since their sums were read, so the grant still fits.
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
