import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { Reservation, SpendSums, SpendWindow } from '../../../core/ports/spend-ledger.ts'
import type { Command } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database, SpendWindowTable } from '../schema.ts'

/** A window of a scope. */
type WindowKey = Pick<SpendWindow, 'scope' | 'window'>

/** A change of a window's sums. */
type Change = Pick<SpendSums, 'settledNanoUsd' | 'heldNanoUsd'>

/** Sorts by window in the one order in which windows are locked, which prevents deadlocks. */
export function inLockOrder<Item>(items: readonly Item[], windowOf: (item: Item) => WindowKey): Item[] {
  const keyOf = (item: Item): string => `${windowOf(item).window} ${windowOf(item).scope}`
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Holds an amount in a window, which may be new, and returns its sums. `undefined`: it does not fit, and nothing is changed
 * except that its row is locked.
 */
export async function holdInWindow(
  db: Kysely<Database>,
  { scope, window, limitNanoUsd }: SpendWindow,
  amountNanoUsd: number,
): Promise<SpendSums | undefined> {
  // The statement checks existing rows; a window without a row contains nothing but this.
  if (amountNanoUsd > limitNanoUsd) return undefined
  const [row] = await addHold(db, { scope, window, amountNanoUsd, limitNanoUsd })
  return row && toSums(row)
}

const addHold = statement(
  ['scope', 'window', 'amountNanoUsd', 'limitNanoUsd'],
  (db, given: Places<WindowKey & { amountNanoUsd: number; limitNanoUsd: number }>) =>
    db
      .insertInto('spend_window')
      .values({ scope: given.scope, window_id: given.window, settled_nano_usd: 0, held_nano_usd: given.amountNanoUsd })
      .onConflict((conflict) =>
        conflict
          .columns(['scope', 'window_id'])
          .doUpdateSet((of) => ({
            held_nano_usd: of('spend_window.held_nano_usd', '+', of.ref('excluded.held_nano_usd')),
          }))
          .where(
            sql<boolean>`spend_window.settled_nano_usd + spend_window.held_nano_usd + excluded.held_nano_usd <= ${given.limitNanoUsd}`,
          ),
      )
      .returning(['settled_nano_usd', 'held_nano_usd']),
)

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
    .returning(['settled_nano_usd', 'held_nano_usd'])
    .executeTakeFirst()
  const spent = (row?.settled_nano_usd ?? 0) + (row?.held_nano_usd ?? 0)
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
  { scope, window, limitNanoUsd }: SpendWindow,
  { settledNanoUsd, heldNanoUsd }: Change,
): Promise<SpendSums | undefined> {
  const addedNanoUsd = settledNanoUsd + heldNanoUsd
  const given = { scope, window, settledNanoUsd, heldNanoUsd, addedNanoUsd, limitNanoUsd }
  const [row] = await addToSums(db, given)
  return row && toSums(row)
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
      .where(sql<boolean>`settled_nano_usd + held_nano_usd + ${given.addedNanoUsd} <= ${given.limitNanoUsd}`)
      .returning(['settled_nano_usd', 'held_nano_usd']),
)

function toSums(row: Pick<SpendWindowTable, 'settled_nano_usd' | 'held_nano_usd'>): SpendSums {
  return { settledNanoUsd: row.settled_nano_usd, heldNanoUsd: row.held_nano_usd }
}

/** Returns the refusal of a reservation by a window; the caller’s transaction has that window’s row locked. */
export async function refusalBy(db: Kysely<Database>, refusedBy: SpendWindow): Promise<Reservation> {
  const [sums] = await readSpend(db, [refusedBy], sql`0`)
  return { ok: false, refusedBy, spentNanoUsd: (sums?.settledNanoUsd ?? 0) + (sums?.heldNanoUsd ?? 0) }
}

/** Reads the sums of these windows, in their order; zero for unused ones. */
export const readSpend: Command<readonly WindowKey[], SpendSums[]> = async (db, windows) => {
  const rows = await db
    .selectFrom('spend_window')
    .selectAll()
    .where((is) => is.or(windows.map(({ scope, window }) => is.and({ scope, window_id: window }))))
    .execute()
  return windows.map(({ scope, window }) => {
    const row = rows.find((other) => other.scope === scope && other.window_id === window)
    return { settledNanoUsd: row?.settled_nano_usd ?? 0, heldNanoUsd: row?.held_nano_usd ?? 0 }
  })
}
