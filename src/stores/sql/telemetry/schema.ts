import { GATEWAY_BOUNDS_MS } from '../../../core/telemetry/time-buckets.ts'
import type { UsageConversationTable } from './conversation-schema.ts'
import type { UsageSliceTable } from './slice-schema.ts'

/** The tables of telemetry: in a file of their own with SQLite, beside the others on PostgreSQL. */
export interface TelemetryTables {
  usage_request: UsageRequestTable
  usage_hour: UsageHourTable
  usage_slice: UsageSliceTable
  usage_conversation: UsageConversationTable
}

/** One finished request. Ids sort by the moment of admission. */
export interface UsageRequestTable {
  id: string
  request_id: string
  has_receipt: number
  scope: string
  key_id: string | null
  started_at_ms: number
  route: string
  dialect: string
  is_stream: number
  status: number | null
  outcome: string
  cache: string
  pipeline: string
  model_asked: string
  model_served: string | null
  provider: string | null
  input_tokens: number | null
  output_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  cost_nano_usd: number | null
  counterfactual_nano_usd: number | null
  counterfactual_basis: string
  gateway_us: number
  provider_us: number | null
  total_us: number
  /** JSON of the steps, edits and calls. */
  trace: string
  reason: string | null
  price_source: string | null
  counterfactual_at_most_nano_usd: number | null
  conversation_id: string | null
  conversation_source: string | null
  client: string | null
  parent_id: string | null
  root_id: string | null
  agent: string | null
  turn: number | null
  cache_write_1h_tokens: number | null
  reasoning_tokens: number | null
  input_nano_usd: number | null
  cache_read_nano_usd: number | null
  cache_write_5m_nano_usd: number | null
  cache_write_1h_nano_usd: number | null
  output_nano_usd: number | null
  reasoning_nano_usd: number | null
  server_tools_nano_usd: number | null
  first_byte_us: number | null
  stop_reason: string | null
  /** JSON list of names; `null` for none. */
  tools: string | null
  server_tool_calls: number | null
  lost_reason: string | null
  lost_detail: string | null
  lost_tokens: number | null
  lost_nano_usd: number | null
  user_id: string | null
  team_id: string | null
  /** JSON list of names; `null` for none. */
  tags: string | null
}

/** Type of each column of a request. */
export const REQUEST_TYPES = {
  id: 'text',
  request_id: 'text',
  has_receipt: 'bigint',
  scope: 'text',
  key_id: 'text',
  started_at_ms: 'bigint',
  route: 'text',
  dialect: 'text',
  is_stream: 'bigint',
  status: 'bigint',
  outcome: 'text',
  cache: 'text',
  pipeline: 'text',
  model_asked: 'text',
  model_served: 'text',
  provider: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  cost_nano_usd: 'bigint',
  counterfactual_nano_usd: 'bigint',
  counterfactual_basis: 'text',
  gateway_us: 'bigint',
  provider_us: 'bigint',
  total_us: 'bigint',
  trace: 'text',
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
  tools: 'text',
  server_tool_calls: 'bigint',
  lost_reason: 'text',
  lost_detail: 'text',
  lost_tokens: 'bigint',
  lost_nano_usd: 'bigint',
  user_id: 'text',
  team_id: 'text',
  tags: 'text',
} as const satisfies Record<keyof UsageRequestTable, 'text' | 'bigint'>

/** All columns of a request, in the order in which rows are sent to the database. The cast is safe: these are its keys. */
export const REQUEST_COLUMNS = Object.keys(REQUEST_TYPES) as readonly (keyof UsageRequestTable)[]

/** Sums of inexact amounts: the cost at ceiling prices, and the upper part of savings. */
export const RANGE_SUMS = ['ceiling_nano_usd', 'saved_more_nano_usd'] as const

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

/** Type of each column of an hour. The cast is safe: the names are those of the sums. */
export const HOUR_TYPES = {
  scope: 'text',
  hour_ms: 'bigint',
  provider: 'text',
  model: 'text',
  ...(Object.fromEntries(SUM_COLUMNS.map((column) => [column, 'bigint'])) as Record<SumColumn, 'bigint'>),
} as const satisfies Record<keyof UsageHourTable, 'text' | 'bigint'>

/** Sums of the requests that were admitted in an hour. */
export type UsageHourTable = HourKey & Record<SumColumn, number>

/** Key of an hour's sums. */
export interface HourKey {
  scope: string
  /** Begin of the hour, in milliseconds since 1970. */
  hour_ms: number
  /** Empty without a reply. */
  provider: string
  /** Empty without a reply, and for errors: unknown model names are unbounded. */
  model: string
}
