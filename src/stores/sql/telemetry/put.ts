import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Command } from '../engine/command.ts'
import { isPostgres } from '../engine/is-postgres.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { CONVERSATION_SUMS, CONVERSATION_TYPES, type UsageConversationTable } from './conversation-schema.ts'
import { sumByConversation } from './conversation-sums.ts'
import { sumByHour } from './hours.ts'
import { type RequestRow, recordOf } from './rows.ts'
import { HOUR_TYPES, REQUEST_COLUMNS, REQUEST_TYPES, SUM_COLUMNS, type UsageRequestTable } from './schema.ts'
import { SLICE_TYPES } from './slice-schema.ts'
import { sumBySlice } from './slices.ts'

/**
 * Stores requests and adds them to their hours. Idempotent: requests with an existing id are ignored, so a batch with an
 * unknown outcome may be sent again.
 */
export const putRequests: Command<readonly RequestRow[], void> = async (db, rows) => {
  const added = isPostgres(db) ? await insertTogether(db, rows) : await insertEach(db, rows)
  const hours = sumByHour(added)
  if (hours.length === 0) return
  const inOrder = hours.map((hour) => HOUR_COLUMNS.map((column) => hour[column]))
  await sql`insert into usage_hour ${rowsOf(db, HOUR_TYPES, inOrder)}
    on conflict (scope, hour_ms, provider, model) do update set ${addedTo('usage_hour')}`.execute(db)
  await addToSlices(db, added)
  await addToConversations(db, sumByConversation(added))
}

/** Adds requests to their slices. */
async function addToSlices(db: Kysely<Database>, added: readonly UsageRequestTable[]): Promise<void> {
  const rows = sumBySlice(added).map((slice) => SLICE_COLUMNS.map((column) => slice[column]))
  if (rows.length === 0) return
  await sql`insert into usage_slice ${rowsOf(db, SLICE_TYPES, rows)}
    on conflict (id) do update set ${addedTo('usage_slice')}`.execute(db)
}

/** Adds requests to the sums of their conversations, whose other facts are those of the newest request. */
async function addToConversations(db: Kysely<Database>, sums: readonly UsageConversationTable[]): Promise<void> {
  if (sums.length === 0) return
  const rows = sums.map((sum) => CONVERSATION_COLUMNS.map((column) => sum[column]))
  await sql`insert into usage_conversation ${rowsOf(db, CONVERSATION_TYPES, rows)}
    on conflict (scope, conversation_id, provider, model) do update set ${CONVERSATION_ADDED}`.execute(db)
}

/** Inserts requests by one statement. Returns those that were not stored. */
async function insertTogether(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<UsageRequestTable[]> {
  const { rows: stored } = await sql<{ id: string }>`insert into usage_request ${rowsOf(db, REQUEST_TYPES, rows)}
    on conflict (id) do nothing returning id`.execute(db)
  const added = new Set(stored.map(({ id }) => id))
  return rows.map(recordOf).filter(({ id }) => added.delete(id))
}

/**
 * Inserts requests one by one: SQLite takes a sixth of the time that it takes to read them out of JSON. The stored ones are
 * left out before: a statement that skips or returns rows copies each page that it changes into a temporary file.
 */
async function insertEach(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<UsageRequestTable[]> {
  const byId = new Map(rows.map(recordOf).map((record) => [record.id, record]))
  for (const { id } of await selectStored(db, { ids: JSON.stringify([...byId.keys()]) })) byId.delete(id)
  const added = [...byId.values()]
  for (const record of added) await insertRequest(db, record)
  return added
}

const selectStored = statement(['ids'], (db, { ids }: Places<{ ids: string }>) =>
  db.selectFrom('usage_request').select('id').where('id', 'in', sql<string>`(select value from json_each(${ids}))`),
)

const insertRequest = statement(REQUEST_COLUMNS, (db, record: Places<RequestValues>) =>
  db.insertInto('usage_request').values(record),
)

/** A record as values of a statement's parameters. */
type RequestValues = { readonly [Column in keyof UsageRequestTable]: UsageRequestTable[Column] }

/** The cast is safe: these are its keys. */
const HOUR_COLUMNS = Object.keys(HOUR_TYPES) as readonly (keyof typeof HOUR_TYPES)[]

const SLICE_COLUMNS = Object.keys(SLICE_TYPES) as readonly (keyof typeof SLICE_TYPES)[]

const CONVERSATION_COLUMNS = Object.keys(CONVERSATION_TYPES) as readonly (keyof typeof CONVERSATION_TYPES)[]
const NEWEST = ['root_id', 'parent_id', 'agent', 'client', 'source', 'last_at_ms', 'last_id'] as const
const IS_NEWER = sql`excluded.last_id > usage_conversation.last_id`
const CONVERSATION_ADDED = sql.join([
  ...NEWEST.map(
    (column) =>
      sql`${sql.ref(column)} = case when ${IS_NEWER} then excluded.${sql.ref(column)} else usage_conversation.${sql.ref(column)} end`,
  ),
  sql`context_tokens = case when ${IS_NEWER} then coalesce(excluded.context_tokens, usage_conversation.context_tokens) else usage_conversation.context_tokens end`,
  sql`first_at_ms = case when excluded.first_at_ms < usage_conversation.first_at_ms then excluded.first_at_ms else usage_conversation.first_at_ms end`,
  ...CONVERSATION_SUMS.map(
    (column) => sql`${sql.ref(column)} = usage_conversation.${sql.ref(column)} + excluded.${sql.ref(column)}`,
  ),
])

function addedTo(table: 'usage_hour' | 'usage_slice'): RawBuilder<unknown> {
  const added = (column: string) =>
    sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} + excluded.${sql.ref(column)}`
  return sql.join(SUM_COLUMNS.map(added))
}

/** Passes columns and values of all rows as one parameter; Kysely takes several times as long for one of each value. */
function rowsOf(
  db: Kysely<Database>,
  types: Readonly<Record<string, 'text' | 'bigint'>>,
  rows: readonly (readonly (string | number | null | undefined)[])[],
): RawBuilder<unknown> {
  const json = JSON.stringify(rows)
  const names = sql.join(Object.keys(types).map((name) => sql.ref(name)))
  const values = sql.join(
    Object.values(types).map((type, index) => sql`cast(value ->> ${sql.lit(index)} as ${sql.raw(type)})`),
  )
  const source = isPostgres(db) ? sql`json_array_elements(cast(${json} as json))` : sql`json_each(${json})`
  // Without a condition SQLite would parse the `on conflict` that follows as part of a join.
  return sql`(${names}) select ${values} from ${source} as each where true`
}
