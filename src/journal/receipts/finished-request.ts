import { answererOf, type CostByClass, type CostSplitter, NO_COST } from '../../core/money/prices.ts'
import { nanoUsdOfDecimal } from '../../core/money/usd.ts'
import { reasoningTokensOf } from '../../core/reply/usage.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { Conversation } from '../../core/request/conversation/conversation.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import type { PrefixLoss } from '../../core/telemetry/prefix-loss.ts'
import type { Receipt, ReceiptStep, ReceiptUsage } from '../../core/telemetry/receipt.ts'
import type {
  CacheOutcome,
  FinishedRequest,
  RequestConversation,
  RequestTokens,
  RequestTrace,
  TraceStep,
} from '../../core/telemetry/telemetry.ts'
import type { StepTrace } from '../../core/telemetry/traces.ts'
import type { ReplyFacts } from './build.ts'
import { smallDetails } from './small-details.ts'

/** Bounds of a trace, beside the receipt's own bounds of names. */
const MOST_STEPS = 32
const MOST_EDITS = 32
const MOST_PATHS = 8
const LONGEST_PATH = 100
const LONGEST_PIPELINE = 300

/** Facts of a request that its receipt does not have. */
export type RowFacts = Pick<ReplyFacts, 'exchange' | 'admittedAtMs' | 'reason'> & {
  readonly latency?: Pick<ReplyFacts['latency'], 'firstByteMs'>
}

/** Input of `finishedRequestOf` beside the request. */
export interface RowOptions {
  readonly hasReceipt: boolean
  readonly pricer: CostSplitter
  /** False for a request that is only counted: its conversation is not recognised. */
  readonly hasConversation: boolean
  /** Default: none. */
  readonly lost?: PrefixLoss | null
}

/** Converts a receipt into telemetry's record of the request. Cheap: it counts nothing again, and its cost is that of the receipt. */
export function finishedRequestOf(
  receipt: Receipt,
  { exchange, admittedAtMs, reason, latency: { firstByteMs } = {} }: RowFacts,
  { hasReceipt, hasConversation, pricer, lost = null }: RowOptions,
): FinishedRequest {
  const { usage, latency } = receipt
  const outline = exchange.reply?.outline
  const costNanoUsd = fromUsd(receipt.cost.provider_usd)
  // Not spread: the engine then adds each of the members after it one by one.
  const { keyId, userId, teamId } = ownersOf(exchange.caller)
  return {
    id: receipt.id,
    requestId: receipt.request_id,
    hasReceipt,
    scope: exchange.caller.scope,
    keyId,
    userId,
    teamId,
    tags: exchange.tags,
    startedAtMs: admittedAtMs,
    route: receipt.route,
    dialect: receipt.dialect,
    isStream: receipt.stream,
    status: receipt.status,
    outcome: receipt.outcome,
    reason: reason ?? providersRefusal(receipt),
    cache: cacheOutcomeOf(exchange.trace),
    pipeline: receipt.pipeline.slice(0, LONGEST_PIPELINE),
    modelAsked: receipt.model_asked,
    modelServed: receipt.model_served,
    provider: receipt.provider,
    conversation: hasConversation ? toRequestConversation(exchange.conversation) : null,
    tokens: usage && tokensOf(usage, exchange),
    costNanoUsd,
    costs: costsOf(costNanoUsd, { exchange, admittedAtMs }, pricer),
    priceSource: receipt.cost.price_source,
    counterfactualNanoUsd: fromUsd(receipt.counterfactual.usd),
    counterfactualAtMostNanoUsd: fromUsd(receipt.counterfactual.usd_at_most ?? null),
    counterfactualBasis: receipt.counterfactual.basis,
    gatewayMs: latency.gateway_ms,
    providerMs: latency.provider_ms ?? null,
    totalMs: latency.total_ms,
    firstByteMs: firstByteMs ?? null,
    stopReason: outline?.stopReason ?? null,
    tools: outline?.tools ?? [],
    serverToolCalls: serverToolCallsOf(usage),
    lost,
    trace: traceOf(receipt, exchange),
  }
}

/** Returns the key, person and team of a request. */
export function ownersOf(caller: Caller | undefined): Pick<FinishedRequest, 'keyId' | 'userId' | 'teamId'> {
  return { keyId: caller?.keyId ?? null, userId: caller?.userId ?? null, teamId: caller?.teamId ?? null }
}

/** Returns a conversation as a row has it. */
export function toRequestConversation(conversation: Conversation): RequestConversation {
  const { id, source, client = null, parentId = null, rootId, agent = null, turn } = conversation
  return { id, source, client, parentId, rootId, agent, turn }
}

function tokensOf(usage: ReceiptUsage, { latestUsage }: Exchange): RequestTokens {
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
    cacheWrite1h: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    reasoning: latestUsage === undefined ? 0 : reasoningTokensOf(latestUsage),
  }
}

function serverToolCallsOf(usage: ReceiptUsage | null): number {
  const { web_search_requests: searches = 0, web_fetch_requests: fetches = 0 } = usage?.server_tool_use ?? {}
  return searches + fetches
}

/** Splits the cost of the request by class. */
function costsOf(
  costNanoUsd: number | null,
  { exchange, admittedAtMs }: Pick<RowFacts, 'exchange' | 'admittedAtMs'>,
  pricer: CostSplitter,
): CostByClass | null {
  if (costNanoUsd === null) return null
  const usage = exchange.latestUsage
  if (costNanoUsd === 0 || usage === undefined) return NO_COST
  return pricer.split(answererOf(exchange) ?? exchange.target, usage, admittedAtMs)
}

/** Returns the error that a provider returned and the gateway passed on. */
function providersRefusal({ outcome, status, attempts }: Receipt): string | null {
  const last = attempts.at(-1)
  return outcome === 'error' && last !== undefined
    ? `${last.provider} answered ${last.status ?? status ?? 'nothing'}`
    : null
}

function fromUsd(usd: string | null): number | null {
  return usd === null ? null : nanoUsdOfDecimal(usd)
}

/** Returns the best of the cache results that the steps recorded. */
export function cacheOutcomeOf(trace: readonly Pick<StepTrace, 'action'>[]): CacheOutcome {
  let outcome: CacheOutcome = 'none'
  for (const { action } of trace) {
    if (action === 'hit') return 'hit'
    if (action === 'attached') outcome = 'attached'
    else if (action === 'miss' && outcome === 'none') outcome = 'miss'
  }
  return outcome
}

function traceOf({ steps, attempts }: Receipt, { trace, edits }: Exchange): RequestTrace {
  return {
    steps: steps.slice(0, MOST_STEPS).map((step, index) => withDetails(step, trace[index]?.details)),
    edits: edits.slice(0, MOST_EDITS).map(({ module, paths, bytesBefore, bytesAfter }) => ({
      module,
      paths: paths.slice(0, MOST_PATHS).map((path) => path.slice(0, LONGEST_PATH)),
      bytesBefore,
      bytesAfter,
    })),
    calls: attempts.slice(0, MOST_STEPS),
  }
}

/** Joins the details of a step and its figures, which are bounded already. */
function withDetails({ figures, ...step }: ReceiptStep, details: StepTrace['details']): TraceStep {
  if (details === undefined && figures === undefined) return step
  return { ...step, details: { ...(details && smallDetails(details)), ...figures } }
}
