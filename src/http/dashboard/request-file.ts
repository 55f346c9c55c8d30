import type { ListedRequest } from '../../core/telemetry/telemetry.ts'
import { type CsvColumns, isoTime, usd } from './csv.ts'

/** A row with the names behind its ids. */
export type NamedRequest = ListedRequest & {
  readonly keyName: string | null
  readonly userName: string | null
  readonly teamName: string | null
}

/** Columns of the CSV file of requests. */
export const REQUEST_COLUMNS: CsvColumns<NamedRequest> = [
  ['id', ({ id }) => id],
  ['request_id', ({ requestId }) => requestId],
  ['started_at', ({ startedAtMs }) => isoTime(startedAtMs)],
  ['key_id', ({ keyId }) => keyId],
  ['route', ({ route }) => route],
  ['stream', ({ isStream }) => isStream],
  ['status', ({ status }) => status],
  ['outcome', ({ outcome }) => outcome],
  ['reason', ({ reason }) => reason],
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
  ['price_source', ({ priceSource }) => priceSource],
  ['without_gateway_usd', ({ counterfactualNanoUsd }) => usd(counterfactualNanoUsd)],
  ['without_gateway_basis', ({ counterfactualBasis }) => counterfactualBasis],
  ['gateway_ms', ({ gatewayMs }) => gatewayMs],
  ['provider_ms', ({ providerMs }) => providerMs],
  ['total_ms', ({ totalMs }) => totalMs],
  ['conversation_id', ({ conversation }) => conversation?.id ?? null],
  ['turn', ({ conversation }) => conversation?.turn ?? null],
  ['stop_reason', ({ stopReason }) => stopReason],
  ['user_id', ({ userId }) => userId],
  ['team_id', ({ teamId }) => teamId],
  ['tags', ({ tags }) => (tags.length === 0 ? null : tags.join(' '))],
  ['key_name', ({ keyName }) => keyName],
  ['user_name', ({ userName }) => userName],
  ['team_name', ({ teamName }) => teamName],
]
