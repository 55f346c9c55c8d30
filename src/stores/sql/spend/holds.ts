import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Reservation, SpendHold, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import { type Command, type Moment, Undo } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import { type HoldTable, type SweepOutcome, sweepHolds } from '../engine/sweep-holds.ts'
import type { Database } from '../schema.ts'
import type { SpendHoldTable } from './schema.ts'
import { WindowChanges, windowsOf } from './window-changes.ts'
import { changeWindow, growInWindow, holdInWindow, inLockOrder, refusalBy } from './windows.ts'

/**
 * DESIGN — spend ledger
 *
 *                  ┌── grow ──┐         (renews the lease)
 *   reserve ──► [ open ] ──────────── settle ─────────────► [ settled ]
 *                  │  ▲                                          ▲
 *     lease ended  │  └─ grow (as if it had never expired)       │ settle: the final cost replaces the
 *                  └─► sweep ─► [ expired ] ─────────────────────┘ full amount that was counted
 *
 * A window's sums change only together with the hold whose money it is, in one transaction: the held sum is at all times
 * the sum of the open holds, so nothing leaks. Each change is a single statement that checks as it writes; nothing is
 * read first and decided after. Windows are visited in one order, so that no two transactions wait for each other.
 */

/** Time for which an ended hold is kept, to distinguish a repeated `settle` from one of an unknown hold. */
export const SETTLED_KEPT_MS = 24 * 60 * 60 * 1000

/** Inserts a hold, unless one of that id exists. */
export const createHold = statement(
  ['id', 'amountNanoUsd', 'windows', 'leaseMs'],
  (db, given: Places<{ id: string; amountNanoUsd: number; windows: string; leaseMs: number }>, now) =>
    db
      .insertInto('spend_hold')
      .values({
        id: given.id,
        state: 'open',
        previous_state: 'open',
        amount_nano_usd: given.amountNanoUsd,
        previous_amount_nano_usd: 0,
        cost_nano_usd: null,
        windows: given.windows,
        due_at_ms: sql`${now} + ${given.leaseMs}`,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id'),
)

/** Holds an amount in all windows, or returns the first without room. The same hold again renews it. */
export const reserveSpend: Command<SpendHold, Reservation> = async (db, input, now) => {
  const { holdId, amountNanoUsd, leaseMs } = input
  assertAmount(amountNanoUsd)
  const windows = inLockOrder(input.windows, (window) => window)
  const spareNanoUsd = input.spareNanoUsd ?? 0
  const given = { id: holdId, amountNanoUsd, windows: JSON.stringify(windows), leaseMs }
  const [created] = await createHold(db, given, now)
  if (created === undefined) return growSpend(db, { holdId, toNanoUsd: amountNanoUsd, leaseMs }, now)
  const standing: WindowStanding[] = []
  for (const window of windows) {
    const mostNanoUsd = window.limitNanoUsd - spareNanoUsd
    const sums = await holdInWindow(db, window, { amountNanoUsd, mostNanoUsd }, now)
    if (sums === undefined) throw new Undo(await refusalBy(db, window))
    standing.push({ ...window, ...sums })
  }
  return { ok: true, standing }
}

/** Raises a hold's amount and renews its lease, without checking its windows. */
export const raiseHold = statement(
  ['id', 'toNanoUsd', 'leaseMs'],
  (db, given: Places<{ id: string; toNanoUsd: number; leaseMs: number }>, now) =>
    db
      .updateTable('spend_hold')
      .set((of) => ({
        previous_state: of.ref('state'),
        state: 'open',
        previous_amount_nano_usd: of.ref('amount_nano_usd'),
        amount_nano_usd: sql`case when amount_nano_usd < ${given.toNanoUsd} then ${given.toNanoUsd} else amount_nano_usd end`,
        due_at_ms: sql`${now} + ${given.leaseMs}`,
      }))
      .where('id', '=', given.id)
      .where('state', '!=', 'settled')
      .returning(['previous_state', 'previous_amount_nano_usd', 'amount_nano_usd', 'windows']),
)

/** Raises a hold in all its windows, or returns the first without room. Never lowers it. */
export const growSpend: Command<{ holdId: string; toNanoUsd: number; leaseMs: number }, Reservation> = async (
  db,
  change,
  now,
) => {
  const { standing } = await raiseSpend(db, change, now)
  return { ok: true, standing }
}

/** Does the same as `growSpend`, and returns the held amount. A refusal undoes the command. */
export async function raiseSpend(
  db: Kysely<Database>,
  { holdId, toNanoUsd, leaseMs }: { holdId: string; toNanoUsd: number; leaseMs: number },
  now: Moment,
): Promise<{ heldNanoUsd: number; standing: WindowStanding[] }> {
  assertAmount(toNanoUsd)
  const [hold] = await raiseHold(db, { id: holdId, toNanoUsd, leaseMs }, now)
  if (hold === undefined) throw new GatewayError('internal_error', `The hold ${holdId} has ended or never was.`)
  const { previous_amount_nano_usd: before, amount_nano_usd: after } = hold
  const wasCounted = hold.previous_state === 'expired'
  const change = {
    settledNanoUsd: wasCounted ? -before : 0,
    heldNanoUsd: wasCounted ? after : after - before,
  }
  const standing: WindowStanding[] = []
  for (const window of windowsOf(hold)) {
    const changed = after === before ? changeWindow : growInWindow
    const sums = await changed(db, window, change)
    if (sums === undefined) throw new Undo(await refusalBy(db, window))
    standing.push({ ...window, ...sums })
  }
  return { heldNanoUsd: after, standing }
}

const endHold = statement(['id', 'costNanoUsd'], (db, given: Places<{ id: string; costNanoUsd: number }>, now) =>
  db
    .updateTable('spend_hold')
    .set((of) => ({
      previous_state: of.ref('state'),
      state: 'settled',
      cost_nano_usd: given.costNanoUsd,
      due_at_ms: sql`${now} + ${sql.lit(SETTLED_KEPT_MS)}`,
    }))
    .where('id', '=', given.id)
    .where('state', '!=', 'settled')
    .returning(['previous_state', 'amount_nano_usd', 'windows']),
)

/** The cost of a request, for its hold. */
export interface SpendEnd {
  readonly holdId: string
  readonly costNanoUsd: number
}

/** Outcome of a `settle`, by the state of its hold. */
export type SettleOutcome = 'settled' | 'corrected' | 'repeated' | 'unknown'

/** Ends holds: their costs are spent in their windows, the rest is free again. Returns the outcomes in the order of the ends. */
export const settleSpend: Command<readonly SpendEnd[], SettleOutcome[]> = async (db, ends, now) => {
  const changes = new WindowChanges()
  const outcomes: SettleOutcome[] = []
  for (const end of ends) outcomes.push(await settleOne(db, end, { now, changes }))
  await changes.apply(db)
  return outcomes
}

async function settleOne(
  db: Kysely<Database>,
  { holdId, costNanoUsd }: SpendEnd,
  { now, changes }: { now: Moment; changes: WindowChanges },
): Promise<SettleOutcome> {
  assertAmount(costNanoUsd)
  const [hold] = await endHold(db, { id: holdId, costNanoUsd }, now)
  if (hold === undefined) return (await isKnown(db, holdId)) ? 'repeated' : 'unknown'
  const wasCounted = hold.previous_state === 'expired'
  changes.add(hold, {
    settledNanoUsd: wasCounted ? costNanoUsd - hold.amount_nano_usd : costNanoUsd,
    heldNanoUsd: wasCounted ? 0 : -hold.amount_nano_usd,
  })
  return wasCounted ? 'corrected' : 'settled'
}

const HOLDS: HoldTable = { name: 'spend_hold', ended: ['settled', 'expired'] }

/** Counts holds whose lease has ended at their full amount, and deletes those that ended long ago. */
export const sweepSpend: Command<undefined, SweepOutcome> = (db, _, now) =>
  sweepHolds<ExpiredHold>(
    db,
    {
      table: HOLDS,
      columns: ['amount_nano_usd', 'windows'],
      async release(expired) {
        const changes = new WindowChanges()
        for (const hold of expired)
          changes.add(hold, { settledNanoUsd: hold.amount_nano_usd, heldNanoUsd: -hold.amount_nano_usd })
        await changes.apply(db)
      },
    },
    now,
  )

type ExpiredHold = Pick<SpendHoldTable, 'windows' | 'amount_nano_usd'>

async function isKnown(db: Kysely<Database>, holdId: string): Promise<boolean> {
  const row = await db.selectFrom('spend_hold').select('id').where('id', '=', holdId).executeTakeFirst()
  return row !== undefined
}

/** Refuses a fraction, which SQLite would store silently. */
function assertAmount(nanoUsd: number): void {
  if (Number.isSafeInteger(nanoUsd) && nanoUsd >= 0) return
  throw new GatewayError('internal_error', `Expected a whole number of nano-dollars from 0, got ${nanoUsd}.`)
}
