import type { CompiledQuery, Kysely } from 'kysely'
import type { Command } from '../command.ts'
import type { Database } from '../schema.ts'
import { sumByHour } from './hours.ts'
import { type RequestRow, recordOf } from './rows.ts'
import { REQUEST_COLUMNS, SUM_COLUMNS, type UsageHourTable } from './schema.ts'

/** As many rows as one statement takes: the text of each length up to it is kept. */
const ROWS_AT_ONCE = 50

/**
 * Stores requests and adds them to their hours. Those whose ids are there already change nothing, so that a batch whose
 * fate is not known may be put again.
 */
export const putRequests: Command<readonly RequestRow[], void> = async (db, rows) => {
  const added = new Set<string>()
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE)
    const { rows: stored } = await db.executeQuery<{ id: string }>({
      ...insertOf(db, some.length),
      parameters: some.flat(),
    })
    for (const { id } of stored) added.add(id)
  }
  const records = rows.map(recordOf).filter(({ id }) => added.delete(id))
  for (const hour of sumByHour(records)) await addHour(db, hour)
}

type Insert = CompiledQuery<{ id: string }>

/** Kysely takes longer to put this statement together than the database to run it; its text depends on the length alone. */
const inserts = new WeakMap<Kysely<Database>, Map<number, Insert>>()

function insertOf(db: Kysely<Database>, length: number): Insert {
  const known = inserts.get(db) ?? new Map<number, Insert>()
  inserts.set(db, known)
  const existing = known.get(length)
  if (existing !== undefined) return existing
  // Any values do: they are replaced, and stand in the order of the columns.
  const blank = recordOf(REQUEST_COLUMNS.map(() => ''))
  const compiled = db
    .insertInto('usage_request')
    .values(Array.from({ length }, () => blank))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .compile()
  known.set(length, compiled)
  return compiled
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
