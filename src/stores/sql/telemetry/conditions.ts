import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { scopeOfKey } from '../../../core/request/caller.ts'
import { firstReceiptIdAt } from '../../../core/telemetry/receipt-id.ts'
import type { RequestFilter, Scopes, UsagePeriod } from '../../../core/telemetry/telemetry.ts'
import { type DimensionFilter, WITHOUT } from '../../../core/telemetry/usage.ts'
import { isPostgres } from '../engine/is-postgres.ts'
import type { Database } from '../schema.ts'

/** Part of a `where`. */
export type Condition = RawBuilder<SqlBool>

const SEARCHED = [
  'id',
  'request_id',
  'key_id',
  'model_asked',
  'model_served',
  'provider',
  'pipeline',
  'reason',
  'conversation_id',
] as const

/** Columns that are compared as they are, in rows and in slices. */
const COLUMNS = { key: 'key_id', person: 'user_id', team: 'team_id', client: 'client', provider: 'provider' } as const

/** Parts columns that are searched together; no text that is searched for has it. */
const SEPARATOR = '\n'

/** Condition of a row that ended with an error: its model is not counted. */
export const IS_ERROR = sql<SqlBool>`(outcome = 'error' or coalesce(status, 0) >= 400)`

/** Returns the conditions for these scopes; none for all scopes. `scope` is the column, or an expression that no index has. */
export function within(scopes: Scopes, scope = sql`scope`): Condition[] {
  if (typeof scopes === 'string') return [sql`${scope} = ${scopes}`]
  if ('everybody' in scopes) return []
  // An empty list is no SQL for PostgreSQL.
  return scopes.length === 0 ? [sql`1 = 0`] : [sql`${scope} in (${sql.join(scopes)})`]
}

/** Joins conditions. */
export function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`
}

/**
 * Returns the condition that one of these columns contains a text, in any case; beyond ASCII, SQLite and PostgreSQL with the
 * collation `C` compare letters as written. The database folds both sides: JavaScript's rules are others.
 */
export function contains(columns: readonly string[], text: string): Condition {
  const pattern = `%${escaped(text)}%`
  // One comparison of a row: a comparison for each column takes twice the CPU.
  const joined = sql.join(columns.map((column) => sql.ref(column)))
  return sql`(lower(concat_ws(${sql.lit(SEPARATOR)}, ${joined})) like lower(${pattern}) escape '\\')`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`)
}

/** Returns the conditions of rows that match a filter; `code` is the code of their reason. */
export function rowsThatFit(filter: RequestFilter, code: RawBuilder<string>): Condition[] {
  const { text, cache, ended, reason, conversation, model, key } = filter
  const conditions = [...rowsBetween(filter), ...dimensions(filter, { isSlice: false })]
  // Scopes have an index, and keys have none.
  if (key !== undefined && key !== WITHOUT) conditions.push(sql`scope = ${scopeOfKey(key)}`)
  if (model !== undefined) conditions.push(rowsOfModel(model))
  if (conversation !== undefined) conditions.push(rowsOfRun(conversation))
  if (cache !== undefined) conditions.push(sql`cache = ${cache}`)
  if (ended === 'complete') conditions.push(sql`outcome = 'complete'`)
  if (ended === 'failed') conditions.push(sql`outcome <> 'complete'`)
  // A provider's refusal has no code.
  if (ended === 'refused') conditions.push(sql`reason is not null and (outcome = 'refused' or reason like '%:%')`)
  if (reason !== undefined) conditions.push(sql`reason is not null and ${code} = ${reason}`)
  if (text !== undefined && text !== '') conditions.push(contains(SEARCHED, text))
  return conditions
}

/** Returns the conditions of rows in a period, by their ids, which sort by time. `id` is the column, or an expression that no index has. */
export function rowsBetween({ fromMs, toMs }: UsagePeriod, id = sql`id`): Condition[] {
  const conditions: Condition[] = []
  if (fromMs !== undefined) conditions.push(sql`${id} >= ${firstReceiptIdAt(fromMs)}`)
  if (toMs !== undefined) conditions.push(sql`${id} < ${firstReceiptIdAt(toMs)}`)
  return conditions
}

/** Returns the conditions of slices that match a filter of properties; they have no conversations. */
export function slicesThatFit(filter: DimensionFilter): Condition[] {
  const { model } = filter
  const conditions = dimensions(filter, { isSlice: true })
  if (model === undefined) return conditions
  if (model === WITHOUT) return [...conditions, sql`model = ''`]
  const { provider, name } = modelIn(model)
  return [
    ...conditions,
    sql`model = ${name}`,
    ...(provider === undefined ? [] : [sql<SqlBool>`provider = ${provider}`]),
  ]
}

function dimensions(filter: DimensionFilter, { isSlice }: { isSlice: boolean }): Condition[] {
  const conditions: Condition[] = []
  // Safe: these are its keys.
  for (const name of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) {
    const value = filter[name]
    if (value !== undefined) conditions.push(equals(COLUMNS[name], value, isSlice))
  }
  const { tag, module } = filter
  if (tag === WITHOUT) conditions.push(equals('tags', WITHOUT, isSlice))
  else if (tag !== undefined) conditions.push(sql`tags is not null and tags like ${`%"${escaped(tag)}"%`} escape '\\'`)
  const modules = isSlice ? sql.ref('modules') : sql.ref('pipeline')
  if (module === WITHOUT) conditions.push(sql`${modules} in ('', 'none')`)
  else if (module !== undefined) conditions.push(hasModule(modules, module))
  return conditions
}

function equals(column: string, value: string, isSlice: boolean): Condition {
  if (value !== WITHOUT) return sql`${sql.ref(column)} = ${value}`
  return isSlice ? sql`${sql.ref(column)} = ''` : sql`${sql.ref(column)} is null`
}

/** Tests a pipeline's text: modules with commas between them, each perhaps with options after a question mark. */
function hasModule(modules: RawBuilder<unknown>, module: string): Condition {
  const [plain, withOptions] = [`%,${escaped(module)},%`, `%,${escaped(module)}?%`]
  const text = sql`',' || ${modules} || ','`
  return sql`(${text} like ${plain} escape '\\' or ${text} like ${withOptions} escape '\\')`
}

function rowsOfModel(model: string): Condition {
  if (model === WITHOUT) return sql`(${IS_ERROR} or model_served is null)`
  const { provider, name } = modelIn(model)
  const isProviders = provider === undefined ? sql`` : sql` and provider = ${provider}`
  return sql`(not ${IS_ERROR} and model_served = ${name}${isProviders})`
}

/** Splits `provider/model`; a model's own name may have slashes, too. */
function modelIn(model: string): { provider: string | undefined; name: string } {
  const at = model.indexOf('/')
  return at < 0 ? { provider: undefined, name: model } : { provider: model.slice(0, at), name: model.slice(at + 1) }
}

/** Matches the rows of a conversation and of all conversations of the run that it began, by their index. */
function rowsOfRun(id: string): Condition {
  if (id === WITHOUT) return sql`conversation_id is null`
  return sql`conversation_id in (
    select cast(${id} as text) union select conversation_id from usage_conversation where root_id = ${id})`
}

/** Returns the code in a reason: the text before the first colon, or all of it. */
export function codeOf(db: Kysely<Database>): RawBuilder<string> {
  if (isPostgres(db)) return sql`split_part(reason, ':', 1)`
  return sql`substr(reason, 1, instr(reason || ':', ':') - 1)`
}
