import { type ExpressionBuilder, type ExpressionWrapper, type RawBuilder, type SqlBool, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import {
  type FinishedRequest,
  isAmong,
  type ListedRequest,
  type RequestFilter,
  type RequestPage,
  type Scopes,
  type UsageRange,
  type UsageSums,
} from '../../../core/telemetry/telemetry.ts'
import { LARGEST } from '../engine/columns.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { toFinished, toListed } from './rows.ts'
import { GATEWAY_COLUMNS, REQUEST_COLUMNS, SUM_COLUMNS, type UsageHourTable } from './schema.ts'

const LONGEST_LIST = 500
const HOUR_MS = 3_600_000
const US_PER_MS = 1000
const MOST_STEPS = 1000
/** Far above a scope's models times the steps of a chart. */
const MOST_SUMS = 20_000
const LISTED = REQUEST_COLUMNS.filter((column) => column !== 'trace')

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

/** Lists requests of scopes, newest first. */
export const listRequests: Command<RequestPage & { scopes: Scopes }, ListedRequest[]> = async (
  db,
  { scopes, after, limit, ...filter },
) => {
  let query = db
    .selectFrom('usage_request')
    .select(LISTED)
    .where((is) => is.and([...within(is, scopes), ...fits(is, filter)]))
    .orderBy('id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined) query = query.where('id', '<', after)
  return (await query.execute()).map(toListed)
}

type Where = ExpressionBuilder<Database, 'usage_request'>
type Condition = ExpressionWrapper<Database, 'usage_request', SqlBool> | RawBuilder<SqlBool>

/** Returns the conditions for these scopes; none for all scopes. */
export function within(is: Pick<Where, 'val'>, scopes: Scopes): RawBuilder<SqlBool>[] {
  if (typeof scopes === 'string') return [sql<SqlBool>`scope = ${is.val(scopes)}`]
  if ('everybody' in scopes) return []
  // An empty list is no SQL for PostgreSQL.
  return scopes.length === 0 ? [sql<SqlBool>`1 = 0`] : [sql<SqlBool>`scope in (${sql.join(scopes)})`]
}

function fits(is: Where, { text, cache, ended, fromId }: RequestFilter): Condition[] {
  const conditions: Condition[] = []
  if (fromId !== undefined) conditions.push(is('id', '>=', fromId))
  if (cache !== undefined) conditions.push(is('cache', '=', cache))
  if (ended === 'complete') conditions.push(is('outcome', '=', 'complete'))
  if (ended === 'failed') conditions.push(is('outcome', '!=', 'complete'))
  if (text !== undefined && text !== '') {
    conditions.push(contains(SEARCHED, text))
  }
  return conditions
}

/** Returns the condition that one of these columns contains a text, in any case. */
export function contains(columns: readonly string[], text: string): RawBuilder<SqlBool> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  const tests = columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`)
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}

/** Returns a request of these scopes with its trace, by its id or its request id. */
export const findRequest: Command<{ scopes: Scopes; id: string }, FinishedRequest | undefined> = async (
  db,
  { scopes, id },
) => {
  const record = await db
    .selectFrom('usage_request')
    .selectAll()
    .where((is) => is.or([is('id', '=', id), is('request_id', '=', id)]))
    .executeTakeFirst()
  // With the scope as well, SQLite would scan all rows of the scope.
  return record !== undefined && isAmong(record.scope, scopes) ? toFinished(record) : undefined
}

/** Returns the usage of scopes in each step of a range, by provider and model, oldest first. Throws `invalid_request` for the range. */
export const readUsage: Command<UsageRange & { scopes: Scopes }, UsageSums[]> = async (db, { scopes, ...range }) => {
  assertRange(range)
  const { fromMs, toMs, stepMs } = range
  const step = sql<number>`hour_ms - hour_ms % ${sql.lit(stepMs)}`
  const sums = SUM_COLUMNS.map((column) => sumOf(column).as(column))
  const rows = await db
    .selectFrom('usage_hour')
    .select(['provider', 'model', step.as('hour_ms'), ...sums])
    .where((is) => is.and(within(is, scopes)))
    .where('hour_ms', '>=', Math.floor(fromMs / HOUR_MS) * HOUR_MS)
    .where('hour_ms', '<', toMs)
    .groupBy([step, 'provider', 'model'])
    .orderBy(step)
    .orderBy('provider')
    .orderBy('model')
    .limit(MOST_SUMS)
    .execute()
  // Safe: all its columns but the scope were selected.
  return (rows as Omit<UsageHourTable, 'scope'>[]).map(toSums)
}

/**
 * Sums a column, clamped to the largest exact number: a larger one would make the whole reply unreadable. PostgreSQL's sum of
 * whole numbers is a decimal, which would arrive as text.
 */
export function sumOf(column: string): RawBuilder<number> {
  const sum = sql`sum(${sql.ref(column)})`
  return sql`cast(case when ${sum} > ${LARGEST} then ${LARGEST} when ${sum} < -${LARGEST} then -${LARGEST} else ${sum} end as bigint)`
}

export function assertRange({ fromMs, toMs, stepMs }: UsageRange): void {
  const refuse = (words: string) => new GatewayError('invalid_request', words)
  if (![fromMs, toMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0) || fromMs >= toMs)
    throw refuse(`Expected a range whose end lies after its beginning, got ${fromMs} to ${toMs}.`)
  if (!Number.isSafeInteger(stepMs) || stepMs <= 0 || stepMs % HOUR_MS !== 0)
    throw refuse(`Expected a step of whole hours, in milliseconds, got ${stepMs}.`)
  if ((toMs - fromMs) / stepMs > MOST_STEPS)
    throw refuse(`Expected at most ${MOST_STEPS} steps, got ${Math.ceil((toMs - fromMs) / stepMs)}.`)
}

function toSums(hour: Omit<UsageHourTable, 'scope'>): UsageSums {
  return {
    fromMs: hour.hour_ms,
    provider: hour.provider,
    model: hour.model,
    requests: hour.requests,
    errors: hour.errors,
    unfinished: hour.unfinished,
    cacheHits: hour.cache_hits,
    cacheAttached: hour.cache_attached,
    cacheMisses: hour.cache_misses,
    tokens: {
      input: hour.input_tokens,
      output: hour.output_tokens,
      cacheRead: hour.cache_read_tokens,
      cacheWrite: hour.cache_write_tokens,
    },
    costNanoUsd: hour.cost_nano_usd,
    ceilingNanoUsd: hour.ceiling_nano_usd,
    unpriced: hour.unpriced,
    savedNanoUsd: hour.saved_nano_usd,
    savedEstimateNanoUsd: hour.saved_estimate_nano_usd,
    savedMoreNanoUsd: hour.saved_more_nano_usd,
    gatewayMs: hour.gateway_us / US_PER_MS,
    providerMs: hour.provider_us / US_PER_MS,
    asked: hour.asked,
    gatewayTimes: GATEWAY_COLUMNS.map((column) => hour[column] ?? 0),
  }
}
