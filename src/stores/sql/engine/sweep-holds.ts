import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { Moment } from './command.ts'

/** Time for which an expired hold waits for its final report. */
const EXPIRED_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** Holds that one sweep expires, and rows it deletes: few enough not to block other commands. */
const SWEPT_AT_ONCE = 200

/** Table of holds with a lease: columns `id`, `state`, `previous_state` and `due_at_ms`. */
export interface HoldTable {
  readonly name: 'spend_hold' | 'credit_hold'
  /** States of holds that have ended, `expired` included. */
  readonly ended: readonly string[]
}

/** Result of a sweep; `isMore`: there was work, so there may be more. */
export interface SweepOutcome {
  readonly expired: number
  readonly forgotten: number
  readonly isMore: boolean
}

/**
 * Expires holds whose lease has ended and releases what they held, and deletes holds that ended long ago; for commands,
 * whose transaction it joins. `release` receives these columns of the expired holds.
 */
export async function sweepHolds<Row>(
  db: Kysely<Database>,
  { table, columns, release }: { table: HoldTable; columns: readonly (keyof Row & string)[]; release: Release<Row> },
  now: Moment,
): Promise<SweepOutcome> {
  const due = await dueHolds(db, { table, states: ['open'] }, now)
  const expired = due.length === 0 ? [] : await expire<Row>(db, { table, columns, ids: due }, now)
  await release(expired)
  const ended = await dueHolds(db, { table, states: table.ended }, now)
  const forgotten = ended.length === 0 ? 0 : await forget(db, { table, ids: ended }, now)
  return { expired: expired.length, forgotten, isMore: due.length + ended.length > 0 }
}

type Release<Row> = (expired: readonly Row[]) => Promise<void>

/** Returns due holds, the longest waiting first. */
async function dueHolds(
  db: Kysely<Database>,
  { table, states }: { table: HoldTable; states: readonly string[] },
  now: Moment,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table.name)} where state in (${sql.join(states)}) and due_at_ms <= ${now}
    order by due_at_ms limit ${sql.lit(SWEPT_AT_ONCE)}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Checks again on the locked row: it may have been renewed or ended since it was selected. */
async function expire<Row>(
  db: Kysely<Database>,
  { table, columns, ids }: { table: HoldTable; columns: readonly string[]; ids: readonly string[] },
  now: Moment,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    update ${sql.table(table.name)}
    set previous_state = 'open', state = 'expired', due_at_ms = ${now} + ${sql.lit(EXPIRED_KEPT_MS)}
    where id in (${sql.join(ids)}) and state = 'open' and due_at_ms <= ${now}
    returning ${sql.join(columns.map((column) => sql.ref(column)))}`.execute(db)
  return rows
}

async function forget(
  db: Kysely<Database>,
  { table, ids }: { table: HoldTable; ids: readonly string[] },
  now: Moment,
): Promise<number> {
  const { rows } = await sql`
    delete from ${sql.table(table.name)} where id in (${sql.join(ids)}) and state != 'open' and due_at_ms <= ${now}
    returning id`.execute(db)
  return rows.length
}
