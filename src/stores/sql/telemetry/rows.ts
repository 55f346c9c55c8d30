import type { LossReason } from '../../../core/telemetry/prefix-loss.ts'
import type { FinishedRequest, ListedRequest, RequestTrace } from '../../../core/telemetry/telemetry.ts'
import { each, rowToCopy } from '../engine/columns.ts'
import { REQUEST_COLUMNS, type UsageRequestTable } from './schema.ts'

/** A request as it is sent to the database: the values of `REQUEST_COLUMNS`, which are cheaper to copy than objects. */
export type RequestRow = readonly (string | number | null)[]

const US_PER_MS = 1000
/** Longest trace in UTF-16 units. */
const LONGEST_TRACE = 16_384

/** Returns the row of a request. */
export function toRow(request: FinishedRequest): RequestRow {
  const { tokens, conversation, lost } = request
  const cost = exact(request.costNanoUsd)
  const costs = cost === null ? null : request.costs
  const record: UsageRequestTable = {
    id: request.id,
    request_id: request.requestId,
    has_receipt: Number(request.hasReceipt),
    scope: request.scope,
    key_id: request.keyId,
    started_at_ms: request.startedAtMs,
    route: request.route,
    dialect: request.dialect,
    is_stream: Number(request.isStream),
    status: request.status,
    outcome: request.outcome,
    cache: request.cache,
    pipeline: storable(request.pipeline),
    model_asked: storable(request.modelAsked),
    model_served: storableOrNull(request.modelServed),
    provider: request.provider,
    input_tokens: tokens?.input ?? null,
    output_tokens: tokens?.output ?? null,
    cache_read_tokens: tokens?.cacheRead ?? null,
    cache_write_tokens: tokens?.cacheWrite ?? null,
    cost_nano_usd: cost,
    counterfactual_nano_usd: exact(request.counterfactualNanoUsd),
    counterfactual_basis: request.counterfactualBasis,
    gateway_us: toUs(request.gatewayMs),
    provider_us: request.providerMs === null ? null : toUs(request.providerMs),
    total_us: toUs(request.totalMs),
    trace: traceText(request.trace),
    reason: storableOrNull(request.reason),
    price_source: request.priceSource,
    counterfactual_at_most_nano_usd: exact(request.counterfactualAtMostNanoUsd),
    conversation_id: conversation?.id ?? null,
    conversation_source: conversation?.source ?? null,
    client: conversation?.client ?? null,
    parent_id: conversation?.parentId ?? null,
    root_id: conversation?.rootId ?? null,
    agent: storableOrNull(conversation?.agent ?? null),
    turn: conversation?.turn ?? null,
    cache_write_1h_tokens: tokens?.cacheWrite1h ?? null,
    reasoning_tokens: tokens?.reasoning ?? null,
    input_nano_usd: exact(costs?.input ?? null),
    cache_read_nano_usd: exact(costs?.cacheRead ?? null),
    cache_write_5m_nano_usd: exact(costs?.cacheWrite5m ?? null),
    cache_write_1h_nano_usd: exact(costs?.cacheWrite1h ?? null),
    output_nano_usd: exact(costs?.output ?? null),
    reasoning_nano_usd: exact(costs?.reasoning ?? null),
    server_tools_nano_usd: exact(costs?.serverTools ?? null),
    first_byte_us: request.firstByteMs === null ? null : toUs(request.firstByteMs),
    stop_reason: storableOrNull(request.stopReason),
    tools: request.tools.length === 0 ? null : storable(JSON.stringify(request.tools)),
    server_tool_calls: request.serverToolCalls,
    lost_reason: storableOrNull(lost?.reason ?? null),
    lost_detail: storableOrNull(lost?.detail ?? null),
    lost_tokens: lost?.tokens ?? null,
    lost_nano_usd: exact(lost?.nanoUsd ?? null),
    user_id: request.userId,
    team_id: request.teamId,
    tags: request.tags.length === 0 ? null : JSON.stringify(request.tags),
  }
  return REQUEST_COLUMNS.map((column) => record[column])
}

/** Prints a trace; details and edits of plugins are the first to be left out of a long one. */
function traceText(trace: RequestTrace): string {
  const text = JSON.stringify(trace)
  if (text.length <= LONGEST_TRACE) return text
  const steps = trace.steps.map(({ module, action, ms }) => ({ module, action, ms }))
  return JSON.stringify({ steps, edits: [], calls: trace.calls, isCut: true } satisfies RequestTrace)
}

function toUs(ms: number): number {
  return Math.max(0, Math.round(ms * US_PER_MS))
}

/** Drops an absurd price from a provider's reported usage: a larger number could not be read from any database. */
function exact(nanoUsd: number | null): number | null {
  return Number.isSafeInteger(nanoUsd) ? nanoUsd : null
}

/** Removes NUL and lone surrogates, for which PostgreSQL would refuse the whole batch. */
function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed()
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}

const EMPTY = rowToCopy<UsageRequestTable>(each(REQUEST_COLUMNS, null))

/** Returns the record of a row, by its columns' names. */
export function recordOf(row: RequestRow): UsageRequestTable {
  const record = { ...EMPTY }
  // Safe: only `toRow` creates rows.
  const columns = record as unknown as Record<string, RequestRow[number]>
  for (let i = 0; i < REQUEST_COLUMNS.length; i++) columns[REQUEST_COLUMNS[i] ?? ''] = row[i] ?? null
  return record
}

/** Returns a record's request, without its trace. The casts are safe: only `toRow` writes the values. */
export function toListed(record: Omit<UsageRequestTable, 'trace'>): ListedRequest {
  return {
    id: record.id,
    requestId: record.request_id,
    hasReceipt: record.has_receipt === 1,
    scope: record.scope,
    keyId: record.key_id,
    userId: record.user_id,
    teamId: record.team_id,
    tags: record.tags === null ? [] : (JSON.parse(record.tags) as string[]),
    startedAtMs: record.started_at_ms,
    route: record.route as ListedRequest['route'],
    dialect: record.dialect as ListedRequest['dialect'],
    isStream: record.is_stream === 1,
    status: record.status,
    outcome: record.outcome as ListedRequest['outcome'],
    reason: record.reason,
    cache: record.cache as ListedRequest['cache'],
    pipeline: record.pipeline,
    modelAsked: record.model_asked,
    modelServed: record.model_served,
    provider: record.provider,
    conversation: conversationOf(record),
    tokens: tokensOf(record),
    costNanoUsd: record.cost_nano_usd,
    costs: costsOf(record),
    priceSource: record.price_source,
    counterfactualNanoUsd: record.counterfactual_nano_usd,
    counterfactualAtMostNanoUsd: record.counterfactual_at_most_nano_usd,
    counterfactualBasis: record.counterfactual_basis as ListedRequest['counterfactualBasis'],
    gatewayMs: record.gateway_us / US_PER_MS,
    providerMs: record.provider_us === null ? null : record.provider_us / US_PER_MS,
    totalMs: record.total_us / US_PER_MS,
    firstByteMs: record.first_byte_us === null ? null : record.first_byte_us / US_PER_MS,
    stopReason: record.stop_reason,
    tools: record.tools === null ? [] : (JSON.parse(record.tools) as string[]),
    serverToolCalls: record.server_tool_calls ?? 0,
    lost: lostOf(record),
  }
}

type ListedRow = Omit<UsageRequestTable, 'trace'>

function conversationOf({ conversation_id: id, root_id: rootId, ...record }: ListedRow): ListedRequest['conversation'] {
  if (id === null) return null
  return {
    id,
    rootId: rootId ?? id,
    parentId: record.parent_id,
    source: record.conversation_source === 'client' ? 'client' : 'prefix',
    client: record.client,
    agent: record.agent,
    turn: record.turn ?? 0,
  }
}

function tokensOf({ input_tokens: input, output_tokens: output, ...record }: ListedRow): ListedRequest['tokens'] {
  if (input === null || output === null) return null
  return {
    input,
    output,
    cacheRead: record.cache_read_tokens ?? 0,
    cacheWrite: record.cache_write_tokens ?? 0,
    cacheWrite1h: record.cache_write_1h_tokens ?? 0,
    reasoning: record.reasoning_tokens ?? 0,
  }
}

function costsOf({ input_nano_usd: input, ...record }: ListedRow): ListedRequest['costs'] {
  if (input === null) return null
  return {
    input,
    cacheRead: record.cache_read_nano_usd ?? 0,
    cacheWrite5m: record.cache_write_5m_nano_usd ?? 0,
    cacheWrite1h: record.cache_write_1h_nano_usd ?? 0,
    output: record.output_nano_usd ?? 0,
    reasoning: record.reasoning_nano_usd ?? 0,
    serverTools: record.server_tools_nano_usd ?? 0,
  }
}

function lostOf({ lost_reason: reason, ...record }: ListedRow): ListedRequest['lost'] {
  if (reason === null) return null
  const { lost_detail: detail, lost_tokens: tokens, lost_nano_usd: nanoUsd } = record
  // Safe: only `toRow` writes reasons.
  return { reason: reason as LossReason, detail: detail ?? '', tokens: tokens ?? 0, nanoUsd: nanoUsd ?? 0 }
}

/** Returns a record's request. */
export function toFinished(record: UsageRequestTable): FinishedRequest {
  // Safe: only `toRow` writes traces.
  return { ...toListed(record), trace: JSON.parse(record.trace) as RequestTrace }
}
