import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from '../engine/columns.ts'
import type { Command } from '../engine/command.ts'
import { isPostgres } from '../engine/is-postgres.ts'
import { type Places, rowStatement, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { CONVERSATION_SUMS, CONVERSATION_TYPES, type UsageConversationTable } from './conversation-schema.ts'
import { sumByConversation } from './conversation-sums.ts'
import { sumByHour } from './hours.ts'
import { type RequestRow, recordOf } from './rows.ts'
import {
  HOUR_TYPES,
  REQUEST_COLUMNS,
  REQUEST_TYPES,
  SUM_COLUMNS,
  type UsageHourTable,
  type UsageRequestTable,
} from './schema.ts'
import { SLICE_TYPES, type UsageSliceTable } from './slice-schema.ts'
import { sumBySlice } from './slices.ts'

/**
 * Stores requests and adds them to their hours. Idempotent: requests with an existing id are ignored, so a batch with an
 * unknown outcome may be sent again.
 */
export const putRequests: Command<readonly RequestRow[], void> = async (db, rows) => {
  const added = isPostgres(db) ? await insertTogether(db, rows) : await insertEach(db, rows)
  await addToHours(db, sumByHour(added))
  await addToSlices(db, sumBySlice(added))
  await addToConversations(db, sumByConversation(added))
}

/** Inserts requests by one statement. Returns those that were not stored. */
async function insertTogether(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<UsageRequestTable[]> {
  const { rows: stored } = await sql<{ id: string }>`insert into usage_request ${rowsOf(REQUEST_TYPES, rows)}
    on conflict (id) do nothing returning id`.execute(db)
  const added = new Set(stored.map(({ id }) => id))
  return rows.map(recordOf).filter(({ id }) => added.delete(id))
}

/**
 * Inserts requests one by one: SQLite takes a sixth of the time that it takes to read them out of JSON. The stored ones are
 * left out before: a statement that skips or returns rows copies each page that it changes into a temporary file.
 */
async function insertEach(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<UsageRequestTable[]> {
  const byId = new Map<string, { row: RequestRow; record: UsageRequestTable }>()
  for (const row of rows) {
    const record = recordOf(row)
    byId.set(record.id, { row, record })
  }
  for (const { id } of await selectStored(db, { ids: JSON.stringify([...byId.keys()]) })) byId.delete(id)
  const added = [...byId.values()]
  for (const { row } of added) await insertRequest(db, row)
  return added.map(({ record }) => record)
}

const selectStored = statement(['ids'], (db, { ids }: Places<{ ids: string }>) =>
  db.selectFrom('usage_request').select('id').where('id', 'in', sql<string>`(select value from json_each(${ids}))`),
)

const insertRequest = rowStatement(REQUEST_COLUMNS, (db, record: Places<RequestValues>) =>
  db.insertInto('usage_request').values(record),
)

/** A record as values of a statement's parameters. */
type RequestValues = { readonly [Column in keyof UsageRequestTable]: UsageRequestTable[Column] }

const NEWEST = ['root_id', 'parent_id', 'agent', 'client', 'source', 'last_at_ms', 'last_id'] as const
const IS_NEWER = sql`excluded.last_id > usage_conversation.last_id`
const CONVERSATION_ADDED = sql.join([
  ...NEWEST.map(
    (column) =>
      sql`${sql.ref(column)} = case when ${IS_NEWER} then excluded.${sql.ref(column)} else usage_conversation.${sql.ref(column)} end`,
  ),
  sql`context_tokens = case when ${IS_NEWER} then coalesce(excluded.context_tokens, usage_conversation.context_tokens) else usage_conversation.context_tokens end`,
  sql`first_at_ms = case when excluded.first_at_ms < usage_conversation.first_at_ms then excluded.first_at_ms else usage_conversation.first_at_ms end`,
  addedTo('usage_conversation', CONVERSATION_SUMS),
])

const addToHours = adderTo<UsageHourTable>('usage_hour', HOUR_TYPES, {
  key: ['scope', 'hour_ms', 'provider', 'model'],
  added: addedTo('usage_hour', SUM_COLUMNS),
})
const addToSlices = adderTo<UsageSliceTable>('usage_slice', SLICE_TYPES, {
  key: ['id'],
  added: addedTo('usage_slice', SUM_COLUMNS),
})
/** Facts other than the sums are those of the newest request. */
const addToConversations = adderTo<UsageConversationTable>('usage_conversation', CONVERSATION_TYPES, {
  key: ['scope', 'conversation_id', 'provider', 'model'],
  added: CONVERSATION_ADDED,
})

/**
 * Returns a function that adds sums to the rows of a table: `key` names the columns that identify one, `added` sets those of
 * one that exists. SQLite runs one statement for each sum, as for requests: a statement for all would copy each changed page.
 */
function adderTo<Row extends SumRow>(
  table: SumTable,
  types: ColumnTypes,
  { key, added }: { readonly key: readonly (keyof Row & string)[]; readonly added: RawBuilder<unknown> },
): (db: Kysely<Database>, sums: readonly Row[]) => Promise<void> {
  // The cast is safe: these are its keys.
  const names = Object.keys(types) as (keyof Row & string)[]
  const insert = (rows: RawBuilder<unknown>) =>
    sql`insert into ${sql.table(table)} ${rows} on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do update set ${added}`
  const addOne = statement(names, (db, sum: Places<Row>) => ({
    compile: () => insert(sql`(${listOf(names)}) values (${sql.join(names.map((name) => sum[name]))})`).compile(db),
  }))
  return async (db, sums) => {
    if (sums.length === 0) return
    if (isPostgres(db)) {
      const rows = sums.map((sum) => names.map((name) => sum[name]))
      await insert(rowsOf(types, rows)).execute(db)
    } else for (const sum of sums) await addOne(db, sum)
  }
}

type SumTable = 'usage_hour' | 'usage_slice' | 'usage_conversation'
type SumRow = UsageHourTable | UsageSliceTable | UsageConversationTable

function addedTo(table: SumTable, columns: readonly string[]): RawBuilder<unknown> {
  const added = (column: string) =>
    sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} + excluded.${sql.ref(column)}`
  return sql.join(columns.map(added))
}

/** Passes columns and values of all rows to PostgreSQL as one parameter; Kysely takes several times as long for one of each value. */
function rowsOf(types: ColumnTypes, rows: readonly (readonly unknown[])[]): RawBuilder<unknown> {
  const values = sql.join(
    Object.values(types).map((type, index) => sql`cast(value ->> ${sql.lit(index)} as ${sql.raw(type)})`),
  )
  return sql`(${listOf(Object.keys(types))}) select ${values}
    from json_array_elements(cast(${JSON.stringify(rows)} as json)) as each`
}

function listOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)))
}
