import { gatewayClassOf } from '../../../core/telemetry/time-buckets.ts'
import {
  GATEWAY_COLUMNS,
  type HourKey,
  SUM_COLUMNS,
  type SumColumn,
  type UsageHourTable,
  type UsageRequestTable,
} from './schema.ts'

const HOUR_MS = 3_600_000
const US_PER_MS = 1000
const FIRST_ERROR_STATUS = 400
/** A thousand dollars, or a trillion tokens. A larger reported value is absurd, and would distort a year's sums. */
const MOST_OF_ONE = 1e12

/** Sums requests by hour, in the one order in which hours are locked, which prevents deadlocks. */
export function sumByHour(requests: readonly UsageRequestTable[]): UsageHourTable[] {
  return sumBy(requests, (request) => ({
    scope: request.scope,
    hour_ms: Math.floor(request.started_at_ms / HOUR_MS) * HOUR_MS,
    ...answererOf(request),
  }))
}

/** Returns the part of a key of sums that names the answerer. */
export function answererOf(request: UsageRequestTable): Pick<HourKey, 'provider' | 'model'> {
  return { provider: request.provider ?? '', model: isError(request) ? '' : (request.model_served ?? '') }
}

/** Sums requests by a key, ordered by the key's values. */
export function sumBy<Key extends object>(
  requests: readonly UsageRequestTable[],
  keyOf: (request: UsageRequestTable) => Key,
): (Key & Record<SumColumn, number>)[] {
  const sums = new Map<string, Key & Record<SumColumn, number>>()
  for (const request of requests) {
    const key = keyOf(request)
    const text = JSON.stringify(Object.values(key))
    let sum = sums.get(text)
    if (sum === undefined) {
      sum = { ...key, ...zeros() }
      sums.set(text, sum)
    }
    addTo(sum, request)
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/** Tests for a request that ended with an error's status, or without one. */
export function isError({ status, outcome }: UsageRequestTable): boolean {
  return outcome === 'error' || (status !== null && status >= FIRST_ERROR_STATUS)
}

function zeros(): Record<SumColumn, number> {
  // Safe: these are all the columns.
  return Object.fromEntries(SUM_COLUMNS.map((column) => [column, 0])) as Record<SumColumn, number>
}

function addTo(hour: Record<SumColumn, number>, request: UsageRequestTable): void {
  const cost = plausible(request.cost_nano_usd)
  const without = plausible(request.counterfactual_nano_usd)
  hour.requests++
  // Refused before its pipeline: it has used nothing, and its time is no gateway time.
  if (request.outcome === 'refused') return void hour.errors++
  if (isError(request)) hour.errors++
  else if (request.outcome !== 'complete') hour.unfinished++
  if (request.cache === 'hit') hour.cache_hits++
  if (request.cache === 'attached') hour.cache_attached++
  if (request.cache === 'miss') hour.cache_misses++
  hour.input_tokens += plausible(request.input_tokens) ?? 0
  hour.output_tokens += plausible(request.output_tokens) ?? 0
  hour.cache_read_tokens += plausible(request.cache_read_tokens) ?? 0
  hour.cache_write_tokens += plausible(request.cache_write_tokens) ?? 0
  if (cost === null) hour.unpriced++
  else hour.cost_nano_usd += cost
  if (request.price_source === 'ceiling') hour.ceiling_nano_usd += cost ?? 0
  const saved = cost === null || without === null ? 0 : without - cost
  hour.saved_nano_usd += saved
  if (request.counterfactual_basis === 'estimate') hour.saved_estimate_nano_usd += saved
  const atMost = plausible(request.counterfactual_at_most_nano_usd)
  if (atMost !== null && without !== null && cost !== null) hour.saved_more_nano_usd += Math.max(0, atMost - without)
  hour.gateway_us += request.gateway_us
  hour.provider_us += request.provider_us ?? 0
  if (request.provider_us !== null) hour.asked++
  const column = GATEWAY_COLUMNS[gatewayClassOf(request.gateway_us / US_PER_MS)]
  if (column !== undefined) hour[column] = (hour[column] ?? 0) + 1
}

/** Bounds a reported amount, so that an absurd one does not distort sums. */
export function plausible(amount: number | null): number | null {
  return amount === null ? null : Math.min(amount, MOST_OF_ONE)
}
