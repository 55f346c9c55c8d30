import type { ListedRequest } from '../../core/telemetry.ts'

const NANO = 1e9

const COLUMNS: readonly [name: string, value: (request: ListedRequest) => string | number | null][] = [
  ['id', ({ id }) => id],
  ['request_id', ({ requestId }) => requestId],
  ['started_at', ({ startedAtMs }) => new Date(startedAtMs).toISOString()],
  ['key_id', ({ keyId }) => keyId],
  ['route', ({ route }) => route],
  ['stream', ({ isStream }) => String(isStream)],
  ['status', ({ status }) => status],
  ['outcome', ({ outcome }) => outcome],
  ['cache', ({ cache }) => cache],
  ['pipeline', ({ pipeline }) => pipeline],
  ['model_asked', ({ modelAsked }) => modelAsked],
  ['model_served', ({ modelServed }) => modelServed],
  ['provider', ({ provider }) => provider],
  ['input_tokens', ({ tokens }) => tokens?.input ?? null],
  ['output_tokens', ({ tokens }) => tokens?.output ?? null],
  ['cache_read_tokens', ({ tokens }) => tokens?.cacheRead ?? null],
  ['cache_write_tokens', ({ tokens }) => tokens?.cacheWrite ?? null],
  ['cost_usd', ({ costNanoUsd }) => usd(costNanoUsd)],
  ['without_gateway_usd', ({ counterfactualNanoUsd }) => usd(counterfactualNanoUsd)],
  ['without_gateway_basis', ({ counterfactualBasis }) => counterfactualBasis],
  ['gateway_ms', ({ gatewayMs }) => gatewayMs],
  ['provider_ms', ({ providerMs }) => providerMs],
  ['total_ms', ({ totalMs }) => totalMs],
]

/** The first line of the file (RFC 4180). */
export const CSV_HEAD = `${COLUMNS.map(([name]) => name).join(',')}\r\n`

/** The line of a request. */
export function csvLine(request: ListedRequest): string {
  return `${COLUMNS.map(([, value]) => cell(value(request))).join(',')}\r\n`
}

/** A spreadsheet runs what begins like a formula: such a text of a client's gets a quote before it. */
function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function usd(nanoUsd: number | null): string | null {
  return nanoUsd === null ? null : (nanoUsd / NANO).toFixed(9)
}
