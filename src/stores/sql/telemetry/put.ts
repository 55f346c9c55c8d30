import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { sumByHour } from './hours.ts'
import { type RequestRow, recordOf } from './rows.ts'
import { HOUR_TYPES, REQUEST_TYPES, SUM_COLUMNS } from './schema.ts'

/**
 * Stores requests and adds them to their hours. Idempotent: requests with an existing id are ignored, so a batch with an
 * unknown outcome may be sent again.
 */
export const putRequests: Command<readonly RequestRow[], void> = async (db, rows) => {
  const { rows: stored } = await sql<{ id: string }>`insert into usage_request ${rowsOf(db, REQUEST_TYPES, rows)}
    on conflict (id) do nothing returning id`.execute(db)
  const added = new Set(stored.map(({ id }) => id))
  const hours = sumByHour(rows.map(recordOf).filter(({ id }) => added.delete(id)))
  if (hours.length === 0) return
  const inOrder = hours.map((hour) => HOUR_COLUMNS.map((column) => hour[column]))
  await sql`insert into usage_hour ${rowsOf(db, HOUR_TYPES, inOrder)}
    on conflict (scope, hour_ms, provider, model) do update set ${ADDED}`.execute(db)
}

/** The cast is safe: these are its keys. */
const HOUR_COLUMNS = Object.keys(HOUR_TYPES) as readonly (keyof typeof HOUR_TYPES)[]

const ADDED = sql.join(
  SUM_COLUMNS.map((column) => sql`${sql.ref(column)} = usage_hour.${sql.ref(column)} + excluded.${sql.ref(column)}`),
)

/** Passes columns and values of all rows as one parameter: one for each value cost the thread several times as much. */
function rowsOf(
  db: Kysely<Database>,
  types: Readonly<Record<string, 'text' | 'bigint'>>,
  rows: readonly RequestRow[],
): RawBuilder<unknown> {
  const json = JSON.stringify(rows)
  const names = sql.join(Object.keys(types).map((name) => sql.ref(name)))
  const values = sql.join(
    Object.values(types).map((type, index) => sql`cast(value ->> ${sql.lit(index)} as ${sql.raw(type)})`),
  )
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  const source = isPostgres ? sql`json_array_elements(cast(${json} as json))` : sql`json_each(${json})`
  // Without a condition SQLite would parse the `on conflict` that follows as part of a join.
  return sql`(${names}) select ${values} from ${source} as each where true`
}
