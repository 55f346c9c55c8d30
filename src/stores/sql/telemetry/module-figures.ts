import { isObject, tryParseJson } from '../../../core/json/json-value.ts'
import { type ModuleSample, moduleFigures, type SampledRequest } from '../../../core/telemetry/module-figures.ts'
import { firstReceiptIdAt } from '../../../core/telemetry/receipt-id.ts'
import type { CacheOutcome, RequestTrace, Scopes } from '../../../core/telemetry/telemetry.ts'
import type { Command } from '../engine/command.ts'
import { allOf, within } from './conditions.ts'

/** Selects a sample of requests. */
export interface SampleQuery {
  /** Start of the period, in milliseconds since 1970. */
  readonly fromMs: number
  /** Most requests: the newest. */
  readonly most: number
}

/** Sums up the plugins of the newest requests of scopes, from their traces. */
export const readModuleFigures: Command<SampleQuery & { scopes: Scopes }, ModuleSample> = async (
  db,
  { scopes, fromMs, most },
) => {
  const rows = await db
    .selectFrom('usage_request')
    .select(['trace', 'cache', 'cost_nano_usd', 'counterfactual_nano_usd', 'started_at_ms'])
    .where(allOf(within(scopes)))
    .where('id', '>=', firstReceiptIdAt(fromMs))
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  const sampled = rows.map(
    ({ trace, cache, cost_nano_usd: cost, counterfactual_nano_usd: without }): SampledRequest => ({
      trace: toTrace(trace),
      // Safe: only `toRow` writes it.
      cache: cache as CacheOutcome,
      savedNanoUsd: cost === null || without === null ? 0 : without - cost,
    }),
  )
  return { requests: rows.length, sinceMs: rows.at(-1)?.started_at_ms ?? null, modules: moduleFigures(sampled) }
}

const NO_TRACE: RequestTrace = { steps: [], edits: [], calls: [] }

function toTrace(text: string): RequestTrace {
  const trace = tryParseJson(text)
  // Safe: only `toRow` writes it.
  return isObject(trace) ? (trace as unknown as RequestTrace) : NO_TRACE
}
