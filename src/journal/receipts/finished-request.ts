import { nanoUsdOfDecimal } from '../../core/money/usd.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import type { Receipt } from '../../core/telemetry/receipt.ts'
import type { CacheOutcome, FinishedRequest, RequestTrace, TraceStep } from '../../core/telemetry/telemetry.ts'
import type { StepTrace } from '../../core/telemetry/traces.ts'
import type { ReplyFacts } from './build.ts'
import { smallDetails } from './small-details.ts'

/** Bounds of a trace, beside the receipt's own bounds of names. */
const MOST_STEPS = 32
const MOST_EDITS = 32
const MOST_PATHS = 8
const LONGEST_PATH = 100
const LONGEST_PIPELINE = 300

/** Converts a receipt into telemetry's record of the request. Cheap: it prices and counts nothing again. */
export function finishedRequestOf(
  receipt: Receipt,
  { exchange, admittedAtMs, reason }: Pick<ReplyFacts, 'exchange' | 'admittedAtMs' | 'reason'>,
  { hasReceipt }: { hasReceipt: boolean },
): FinishedRequest {
  const { usage, latency } = receipt
  return {
    id: receipt.id,
    requestId: receipt.request_id,
    hasReceipt,
    scope: exchange.caller.scope,
    keyId: exchange.caller.keyId ?? null,
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
    tokens: usage && {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
    },
    costNanoUsd: fromUsd(receipt.cost.provider_usd),
    priceSource: receipt.cost.price_source,
    counterfactualNanoUsd: fromUsd(receipt.counterfactual.usd),
    counterfactualAtMostNanoUsd: fromUsd(receipt.counterfactual.usd_at_most ?? null),
    counterfactualBasis: receipt.counterfactual.basis,
    gatewayMs: latency.gateway_ms,
    providerMs: latency.provider_ms ?? null,
    totalMs: latency.total_ms,
    trace: traceOf(receipt, exchange),
  }
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

function withDetails(step: TraceStep, details: StepTrace['details']): TraceStep {
  return details === undefined ? step : { ...step, details: smallDetails(details) }
}
