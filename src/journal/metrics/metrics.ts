import { GatewayError } from '../../core/errors.ts'
import { toUsd } from '../../core/money/usd.ts'
import type { Alert } from '../../core/ports/alerts.ts'
import type { RequestRecord } from '../../core/ports/request-record.ts'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { createInstruments, type Instruments, snapshotOf } from './instruments.ts'
import type { Snapshot } from './print.ts'
import { ProcessValues } from './process-values.ts'

/** Properties of the running build. */
export interface MetricsOptions {
  readonly version: string
  readonly mode: string
}

const MS_PER_SECOND = 1000
const NONE = 'none'

/** Metrics of this process. */
export class Metrics {
  readonly #of: Instruments = createInstruments()
  readonly #process = new ProcessValues()
  #inFlight = 0

  constructor({ version, mode }: MetricsOptions) {
    this.#of.turnpike_info.set(1, version, mode, process.version)
    this.#of.turnpike_unpriced_requests_total.set(0)
  }

  /** Counts a new request. */
  enter(): void {
    this.#inFlight++
  }

  /** Counts a request whose reply has ended. */
  leave({ method, route = 'unmatched', status, durationMs, error }: RequestRecord): void {
    this.#inFlight--
    this.#of.turnpike_http_requests_total.add(1, method, route, String(status))
    this.#of.turnpike_http_request_duration_seconds.observe(durationMs / MS_PER_SECOND, route)
    if (error !== undefined) this.#of.turnpike_errors_total.add(1, codeOf(error))
  }

  /** Counts a finished request that passed through a pipeline. */
  count(request: FinishedRequest): void {
    const { route, outcome, cache, trace, gatewayMs, providerMs } = request
    const { provider, model } = servedBy(request)
    this.#of.turnpike_model_requests_total.add(1, route, provider, model, outcome, cache)
    this.#of.turnpike_gateway_duration_seconds.observe(gatewayMs / MS_PER_SECOND)
    if (providerMs !== null) this.#of.turnpike_provider_wait_seconds.observe(providerMs / MS_PER_SECOND, provider)
    for (const call of trace.calls)
      this.#of.turnpike_provider_attempts_total.add(1, call.provider, call.outcome, String(call.status ?? NONE))
    for (const { module, action, ms } of trace.steps) {
      this.#of.turnpike_module_runs_total.add(1, module, action)
      this.#of.turnpike_module_duration_seconds.observe(ms / MS_PER_SECOND, module)
    }
    this.#countTokens(request)
    this.#countMoney(request)
    this.#countLoss(request)
    this.#countOwners(request)
  }

  /** Counts an alert that this process raised. */
  raised({ kind, severity }: Pick<Alert, 'kind' | 'severity'>): void {
    this.#of.turnpike_alerts_total.add(1, kind, severity)
  }

  /** Counts a try to deliver an alert. */
  delivered(channel: string, outcome: 'sent' | 'failed'): void {
    this.#of.turnpike_alert_deliveries_total.add(1, channel, outcome)
  }

  /** Returns all current values. */
  snapshot(): Snapshot {
    this.#process.sample(this.#of)
    this.#of.turnpike_http_requests_in_flight.set(this.#inFlight)
    return snapshotOf(this.#of)
  }

  #countTokens(request: FinishedRequest): void {
    const { tokens } = request
    if (tokens === null) return
    const { provider, model } = servedBy(request)
    const counter = this.#of.turnpike_tokens_total
    counter.add(tokens.input, provider, model, 'input')
    counter.add(tokens.output, provider, model, 'output')
    counter.add(tokens.cacheRead, provider, model, 'cache_read')
    counter.add(tokens.cacheWrite, provider, model, 'cache_write')
  }

  #countLoss({ lost }: FinishedRequest): void {
    if (lost === null) return
    this.#of.turnpike_prompt_cache_lost_usd_total.add(toUsd(lost.nanoUsd), lost.reason)
    this.#of.turnpike_prompt_cache_lost_tokens_total.add(lost.tokens, lost.reason)
  }

  #countOwners({ teamId, tags, outcome, costNanoUsd }: FinishedRequest): void {
    if (teamId === null && tags.length === 0) return
    const usd = toUsd(costNanoUsd ?? 0)
    if (teamId !== null) {
      this.#of.turnpike_team_requests_total.add(1, teamId, outcome)
      this.#of.turnpike_team_cost_usd_total.add(usd, teamId)
    }
    for (const tag of tags) {
      this.#of.turnpike_tag_requests_total.add(1, tag)
      this.#of.turnpike_tag_cost_usd_total.add(usd, tag)
    }
  }

  #countMoney(request: FinishedRequest): void {
    const { costNanoUsd, counterfactualNanoUsd, counterfactualBasis } = request
    if (costNanoUsd === null || counterfactualNanoUsd === null) {
      this.#of.turnpike_unpriced_requests_total.add(1)
      return
    }
    const { provider, model } = servedBy(request)
    this.#of.turnpike_provider_cost_usd_total.add(toUsd(costNanoUsd), provider, model)
    this.#of.turnpike_counterfactual_cost_usd_total.add(toUsd(counterfactualNanoUsd), counterfactualBasis)
  }
}

function servedBy({ provider, modelServed }: FinishedRequest): { provider: string; model: string } {
  return { provider: provider ?? NONE, model: modelServed ?? NONE }
}

function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : 'internal_error'
}
