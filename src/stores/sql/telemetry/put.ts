import { type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Command } from '../command.ts'
import type { Database } from '../schema.ts'
import { sumByHour } from './hours.ts'
import { type RequestRow, recordOf } from './rows.ts'
import { REQUEST_COLUMNS, REQUEST_TYPES, SUM_COLUMNS, type UsageHourTable } from './schema.ts'

/**
 * Stores requests and adds them to their hours. Those whose ids are there already change nothing, so that a batch whose
 * fate is not known may be put again.
 */
export const putRequests: Command<readonly RequestRow[], void> = async (db, rows) => {
  const { rows: stored } = await insertRows(db, rows)
  const added = new Set(stored.map(({ id }) => id))
  const records = rows.map(recordOf).filter(({ id }) => added.delete(id))
  for (const hour of sumByHour(records)) await addHour(db, hour)
}

const NAMES = sql.join(REQUEST_COLUMNS.map((column) => sql.ref(column)))
const VALUES = sql.join(
  REQUEST_COLUMNS.map((column, index) => sql`cast(value ->> ${sql.lit(index)} as ${sql.raw(REQUEST_TYPES[column])})`),
)

/** All rows as one parameter: thousands of them, one a value, would cost the thread several times as much. */
function insertRows(db: Kysely<Database>, rows: readonly RequestRow[]) {
  const json = JSON.stringify(rows)
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  const source = isPostgres ? sql`json_array_elements(cast(${json} as json))` : sql`json_each(${json})`
  // SQLite takes `on conflict` for the source's without a condition before it.
  return sql<{ id: string }>`insert into usage_request (${NAMES}) select ${VALUES} from ${source} as each
    where true on conflict (id) do nothing returning id`.execute(db)
}

async function addHour(db: Kysely<Database>, hour: UsageHourTable): Promise<void> {
  await db
    .insertInto('usage_hour')
    .values(hour)
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'hour_ms', 'provider', 'model'])
        .doUpdateSet((of) =>
          Object.fromEntries(
            SUM_COLUMNS.map((column) => [column, of(`usage_hour.${column}`, '+', of.ref(`excluded.${column}`))]),
          ),
        ),
    )
    .execute()
}
