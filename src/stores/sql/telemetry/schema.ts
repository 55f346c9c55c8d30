import { GATEWAY_BOUNDS_MS } from '../../../core/telemetry/time-buckets.ts'
import { bigints, type ColumnTypes, columns, type PartialRowOf, type RowOf } from '../engine/columns.ts'
import type { UsageConversationTable } from './conversation-schema.ts'
import type { UsageSliceTable } from './slice-schema.ts'

/** The tables of telemetry: in a file of their own with SQLite, beside the others on PostgreSQL. */
export interface TelemetryTables {
  usage_request: UsageRequestTable
  usage_hour: UsageHourTable
  usage_slice: UsageSliceTable
  usage_conversation: UsageConversationTable
}

/** Columns that every request has. */
const REQUIRED = {
  id: 'text',
  request_id: 'text',
  has_receipt: 'bigint',
  scope: 'text',
  started_at_ms: 'bigint',
  route: 'text',
  dialect: 'text',
  is_stream: 'bigint',
  outcome: 'text',
  cache: 'text',
  pipeline: 'text',
  model_asked: 'text',
  counterfactual_basis: 'text',
  gateway_us: 'bigint',
  total_us: 'bigint',
  /** JSON of the steps, edits and calls. */
  trace: 'text',
} as const satisfies ColumnTypes

/** Columns that are `null` where a request has no such property. */
const OPTIONAL = {
  key_id: 'text',
  status: 'bigint',
  model_served: 'text',
  provider: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  cost_nano_usd: 'bigint',
  counterfactual_nano_usd: 'bigint',
  provider_us: 'bigint',
  reason: 'text',
  price_source: 'text',
  counterfactual_at_most_nano_usd: 'bigint',
  conversation_id: 'text',
  conversation_source: 'text',
  client: 'text',
  parent_id: 'text',
  root_id: 'text',
  agent: 'text',
  turn: 'bigint',
  cache_write_1h_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  input_nano_usd: 'bigint',
  cache_read_nano_usd: 'bigint',
  cache_write_5m_nano_usd: 'bigint',
  cache_write_1h_nano_usd: 'bigint',
  output_nano_usd: 'bigint',
  reasoning_nano_usd: 'bigint',
  server_tools_nano_usd: 'bigint',
  first_byte_us: 'bigint',
  stop_reason: 'text',
  /** JSON list of names. */
  tools: 'text',
  server_tool_calls: 'bigint',
  lost_reason: 'text',
  lost_detail: 'text',
  lost_tokens: 'bigint',
  lost_nano_usd: 'bigint',
  user_id: 'text',
  team_id: 'text',
  /** JSON list of names. */
  tags: 'text',
} as const satisfies ColumnTypes

/** One finished request. Ids sort by the moment of admission. */
export type UsageRequestTable = RowOf<typeof REQUIRED> & PartialRowOf<typeof OPTIONAL>

/** Type of each column of a request. */
export const REQUEST_TYPES = { ...REQUIRED, ...OPTIONAL } as const

/** All columns of a request, in the order in which rows are sent to the database. The cast is safe: these are its keys. */
export const REQUEST_COLUMNS = Object.keys(REQUEST_TYPES) as readonly (keyof UsageRequestTable)[]

/** Sums of inexact amounts: the cost at ceiling prices, and the upper part of savings. */
const RANGE_SUMS = ['ceiling_nano_usd', 'saved_more_nano_usd'] as const

/** Sums of an hour, besides the classes of gateway times. */
export const HOUR_SUMS = [
  'requests',
  'errors',
  'unfinished',
  'cache_hits',
  'cache_attached',
  'cache_misses',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_nano_usd',
  'unpriced',
  'saved_nano_usd',
  'saved_estimate_nano_usd',
  'gateway_us',
  'provider_us',
  'asked',
  ...RANGE_SUMS,
] as const

/** The column that counts a class of gateway times. */
export type GatewayColumn = `gateway_class_${number}`

/** One column for each class, in their order. */
export const GATEWAY_COLUMNS: readonly GatewayColumn[] = [...GATEWAY_BOUNDS_MS, Number.POSITIVE_INFINITY].map(
  (_, index) => `gateway_class_${index}` as const,
)

/** A column that is added up. */
export type SumColumn = (typeof HOUR_SUMS)[number] | GatewayColumn

/** All columns that are added up. */
export const SUM_COLUMNS: readonly SumColumn[] = [...HOUR_SUMS, ...GATEWAY_COLUMNS]

const HOUR_KEY = {
  scope: 'text',
  /** Begin of the hour, in milliseconds since 1970. */
  hour_ms: 'bigint',
  /** Empty without a reply. */
  provider: 'text',
  /** Empty without a reply, and for errors: unknown model names are unbounded. */
  model: 'text',
} as const satisfies ColumnTypes

/** Key of an hour's sums. */
export type HourKey = RowOf<typeof HOUR_KEY>

/** Type of each column of an hour. */
export const HOUR_TYPES = { ...HOUR_KEY, ...bigints(SUM_COLUMNS) }

/** Sums of the requests that were admitted in an hour. */
export type UsageHourTable = HourKey & Record<SumColumn, number>

/** Creates the tables of telemetry. Few rows have a loss, a reason, an owner or tags: their indexes have no others. */
export const TELEMETRY_TABLES_SQL = `
create table usage_request (
  ${columns(REQUIRED, 'not null')},
  ${columns(OPTIONAL)},
  primary key (id)
);
create index usage_request_by_scope on usage_request (scope, id);
create index usage_request_by_request on usage_request (request_id);
create index usage_request_by_conversation on usage_request (conversation_id, id, cost_nano_usd);
create index usage_request_by_user on usage_request (user_id, id) where user_id is not null;
create index usage_request_by_team on usage_request (team_id, id) where team_id is not null;
create index usage_request_tagged on usage_request (id) where tags is not null;
create index usage_request_reasons on usage_request (id) where reason is not null;
create index usage_request_lost on usage_request (started_at_ms) where lost_reason is not null;
create table usage_hour (
  ${columns(HOUR_TYPES, 'not null')},
  constraint usage_hour_key primary key (scope, hour_ms, provider, model)
);
create index usage_hour_by_hour on usage_hour (hour_ms);
`
