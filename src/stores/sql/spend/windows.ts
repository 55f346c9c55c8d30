import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Reservation, SpendSums, SpendWindow } from '../../../core/ports/spend-ledger.ts'
import type { Command, Moment } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import type { SpendWindowTable } from './schema.ts'

/** A window of a scope. */
type WindowKey = Pick<SpendWindow, 'scope' | 'window'>

/** A change of a window's sums. */
type Change = Pick<SpendSums, 'settledNanoUsd' | 'heldNanoUsd'>

/** Sorts by window in the one order in which windows are locked, which prevents deadlocks. */
export function inLockOrder<Item>(items: readonly Item[], windowOf: (item: Item) => WindowKey): Item[] {
  const keyOf = (item: Item): string => `${windowOf(item).window} ${windowOf(item).scope}`
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** An amount to hold. */
type Held = {
  readonly amountNanoUsd: number
  /** Most that may then be spent and held, besides a raise. */
  readonly mostNanoUsd: number
}

/**
 * Holds an amount in a window, which may be new, and returns its sums. `undefined`: it does not fit, and nothing is changed
 * except that its row is locked.
 */
export async function holdInWindow(
  db: Kysely<Database>,
  window: SpendWindow,
  { amountNanoUsd, mostNanoUsd }: Held,
  now: Moment,
): Promise<SpendSums | undefined> {
  const { isBudget } = window
  const given = rowOf(window)
  // The statement checks existing rows; a window without a row contains nothing but this.
  if (amountNanoUsd > mostNanoUsd) {
    if (isBudget === undefined) return undefined
    const change = { settledNanoUsd: 0, heldNanoUsd: amountNanoUsd }
    const sums = await growInWindow(db, { ...window, limitNanoUsd: mostNanoUsd }, change)
    if (sums !== undefined) await openRow(db, given, now)
    return sums
  }
  const [row] = await addHold(db, { ...given, amountNanoUsd, mostNanoUsd }, now)
  return row && sumsOf(row, isBudget)
}

/** Values of a row, as parameters. */
type RowGiven = WindowKey & {
  readonly limitNanoUsd: number
  /** 1 for a budget. */
  readonly budget: number
}

const ROW_NAMES = ['scope', 'window', 'limitNanoUsd', 'budget'] as const
const SUMS = ['settled_nano_usd', 'held_nano_usd', 'raised_nano_usd', 'begun_at_ms'] as const
const DAY_MS = sql.lit(86_400_000)

/** Columns of a window's sums. */
export type SumsRow = Pick<SpendWindowTable, (typeof SUMS)[number]>

function rowOf({ scope, window, limitNanoUsd, isBudget }: SpendWindow): RowGiven {
  return { scope, window, limitNanoUsd, budget: isBudget === undefined ? 0 : 1 }
}

/** Columns of a new row, besides its held sum. */
function newRow({ scope, window, limitNanoUsd, budget }: Places<RowGiven>, now: Moment) {
  return {
    scope,
    window_id: window,
    settled_nano_usd: 0,
    limit_nano_usd: limitNanoUsd,
    raised_nano_usd: 0,
    begun_at_ms: now,
    used_day: sql<number | null>`case when ${budget} = 1 then cast(${now} as bigint) / ${DAY_MS} end`,
  }
}

const addHold = statement([...ROW_NAMES, 'amountNanoUsd', 'mostNanoUsd'], (db, given: Places<RowGiven & Held>, now) =>
  db
    .insertInto('spend_window')
    .values({ ...newRow(given, now), held_nano_usd: given.amountNanoUsd })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'window_id'])
        .doUpdateSet((of) => ({
          held_nano_usd: of('spend_window.held_nano_usd', '+', of.ref('excluded.held_nano_usd')),
          limit_nano_usd: of.ref('excluded.limit_nano_usd'),
          used_day: of.ref('excluded.used_day'),
        }))
        .where(
          sql<boolean>`spend_window.settled_nano_usd + spend_window.held_nano_usd + excluded.held_nano_usd <= ${given.mostNanoUsd} + spend_window.raised_nano_usd`,
        ),
    )
    .returning(SUMS),
)

const openRow = statement(ROW_NAMES, (db, given: Places<RowGiven>, now) =>
  db
    .insertInto('spend_window')
    .values({ ...newRow(given, now), held_nano_usd: 0 })
    .onConflict((conflict) =>
      conflict.columns(['scope', 'window_id']).doUpdateSet((of) => ({
        limit_nano_usd: of.ref('excluded.limit_nano_usd'),
        used_day: of.ref('excluded.used_day'),
      })),
    ),
)

/** Records the limit of a refused request in its budget, which may be new, so that it can be raised. */
export const openBudget: Command<SpendWindow, undefined> = async (db, window, now) => {
  await openRow(db, rowOf(window), now)
  return undefined
}

/** Changes the sums of a window if they stay within its limit, and returns them. `undefined`: they would not; nothing is changed. */
export async function growInWindow(
  db: Kysely<Database>,
  window: SpendWindow,
  change: Change,
): Promise<SpendSums | undefined> {
  const changed = await changeWithin(db, window, change)
  if (changed !== undefined) return changed
  // A row that does not match is not locked: room may appear before the refusal is composed. Locked, it is stable.
  const { scope, window: window_id, limitNanoUsd } = window
  const row = await db
    .updateTable('spend_window')
    .set((of) => ({ held_nano_usd: of.ref('held_nano_usd') }))
    .where('scope', '=', scope)
    .where('window_id', '=', window_id)
    .returning(['settled_nano_usd', 'held_nano_usd', 'raised_nano_usd'])
    .executeTakeFirst()
  const spent = (row?.settled_nano_usd ?? 0) + (row?.held_nano_usd ?? 0) - (row?.raised_nano_usd ?? 0)
  const fits = spent + change.settledNanoUsd + change.heldNanoUsd <= limitNanoUsd
  return fits ? changeWithin(db, window, change) : undefined
}

/** Changes the sums of a window whatever its limit, and returns them: spent money must be counted. */
export async function changeWindow(db: Kysely<Database>, window: WindowKey, change: Change): Promise<SpendSums> {
  const sums = await changeWithin(db, { ...window, limitNanoUsd: Number.MAX_SAFE_INTEGER }, change)
  if (sums !== undefined) return sums
  throw new GatewayError('internal_error', `The spend of ${window.window} is gone or beyond what can be counted.`)
}

async function changeWithin(
  db: Kysely<Database>,
  { scope, window, limitNanoUsd, isBudget }: SpendWindow,
  { settledNanoUsd, heldNanoUsd }: Change,
): Promise<SpendSums | undefined> {
  const addedNanoUsd = settledNanoUsd + heldNanoUsd
  const given = { scope, window, settledNanoUsd, heldNanoUsd, addedNanoUsd, limitNanoUsd }
  const [row] = await addToSums(db, given)
  return row && sumsOf(row, isBudget)
}

const addToSums = statement(
  ['scope', 'window', 'settledNanoUsd', 'heldNanoUsd', 'addedNanoUsd', 'limitNanoUsd'],
  (db, given: Places<WindowKey & Change & { addedNanoUsd: number; limitNanoUsd: number }>) =>
    db
      .updateTable('spend_window')
      .set((of) => ({
        settled_nano_usd: of('settled_nano_usd', '+', given.settledNanoUsd),
        held_nano_usd: of('held_nano_usd', '+', given.heldNanoUsd),
      }))
      .where('scope', '=', given.scope)
      .where('window_id', '=', given.window)
      .where(
        sql<boolean>`settled_nano_usd + held_nano_usd + ${given.addedNanoUsd} <= ${given.limitNanoUsd} + raised_nano_usd`,
      )
      .returning(SUMS),
)

/** Returns the sums of a window; zero for one without a row. */
export function sumsOf(row: SumsRow | undefined, isBudget: true | undefined): SpendSums {
  if (row === undefined) return { settledNanoUsd: 0, heldNanoUsd: 0 }
  const sums = { settledNanoUsd: row.settled_nano_usd, heldNanoUsd: row.held_nano_usd }
  return isBudget === undefined ? sums : { ...sums, raisedNanoUsd: row.raised_nano_usd, begunAtMs: row.begun_at_ms }
}

/** Returns the refusal of a reservation by a window; the caller’s transaction has that window’s row locked. */
export async function refusalBy(db: Kysely<Database>, refusedBy: SpendWindow): Promise<Reservation> {
  const row = await db
    .selectFrom('spend_window')
    .select([...SUMS, 'limit_nano_usd'])
    .where('scope', '=', refusedBy.scope)
    .where('window_id', '=', refusedBy.window)
    .executeTakeFirst()
  const { settledNanoUsd, heldNanoUsd, raisedNanoUsd } = sumsOf(row, refusedBy.isBudget)
  const refusal = { ok: false, refusedBy, spentNanoUsd: settledNanoUsd + heldNanoUsd } as const
  return row === undefined || raisedNanoUsd === undefined
    ? refusal
    : { ...refusal, raisedNanoUsd, recordedNanoUsd: row.limit_nano_usd }
}

/** Reads the sums of these windows, in their order; zero for unused ones. */
export const readSpend: Command<readonly (WindowKey & Pick<SpendWindow, 'isBudget'>)[], SpendSums[]> = async (
  db,
  windows,
) => {
  const rows = await db
    .selectFrom('spend_window')
    .selectAll()
    .where((is) => is.or(windows.map(({ scope, window }) => is.and({ scope, window_id: window }))))
    .execute()
  return windows.map(({ scope, window, isBudget }) => {
    const row = rows.find((other) => other.scope === scope && other.window_id === window)
    return sumsOf(row, isBudget)
  })
}
