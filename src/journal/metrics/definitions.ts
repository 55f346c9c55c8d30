/** Definition of a metric. */
export interface MetricDefinition {
  /** A counter grows until the process ends; a gauge goes up and down; a histogram counts values by size. */
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Most series; further ones share one. Default: 1,000. */
  readonly mostSeries?: number
  /** Upper bounds of a histogram's buckets, in the metric's unit, ascending. */
  readonly buckets?: readonly number[]
}

/** Bucket bounds in seconds, from a cached reply to the longest thinking. */
const WHOLE = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** Bucket bounds in seconds of the gateway's own share, in fractions of a millisecond. */
const OWN = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** Teams with series of their own, and endings of a request. */
const MOST_TEAMS = 200
const OUTCOMES = 5
/** Tags with series of their own: clients choose them. */
const MOST_TAGS = 200

/** All metrics: `/metrics` and the reference page are printed from this table. */
export const METRICS = {
  turnpike_http_requests_total: {
    kind: 'counter',
    help: 'Requests whose reply has ended, with any outcome. `route` is the pattern of the path, `unmatched` without one.',
    labels: ['method', 'route', 'status'],
  },
  turnpike_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'From the head of a request to the end of its reply.',
    labels: ['route'],
    buckets: WHOLE,
  },
  turnpike_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests whose reply has not ended, streams among them.',
    labels: [],
  },
  turnpike_errors_total: {
    kind: 'counter',
    help: 'Errors returned by the gateway itself, by their code: see the reference of errors.',
    labels: ['code'],
  },
  turnpike_model_requests_total: {
    kind: 'counter',
    help: 'Requests that passed through a pipeline. `outcome`: `complete`, `incomplete` (the reply broke off), `cancelled` (client disconnect), `error`. `cache`: `hit`, `attached` (joined an in-flight request), `miss`, `none`.',
    labels: ['route', 'provider', 'model', 'outcome', 'cache'],
  },
  turnpike_gateway_duration_seconds: {
    kind: 'histogram',
    help: 'The gateway’s own share of the time to the first byte of a reply: from the complete request, without the wait for providers.',
    labels: [],
    buckets: OWN,
  },
  turnpike_provider_wait_seconds: {
    kind: 'histogram',
    help: 'Wait for providers, until the first byte of a reply.',
    labels: ['provider'],
    buckets: WHOLE,
  },
  turnpike_provider_attempts_total: {
    kind: 'counter',
    help: 'Calls to providers. `status` is `none` when there was no reply.',
    labels: ['provider', 'outcome', 'status'],
  },
  turnpike_tokens_total: {
    kind: 'counter',
    help: 'Tokens that replies reported. `class`: `input` (not in a prompt cache), `output`, `cache_read`, `cache_write`. For a reply from a cache, those of the stored reply.',
    labels: ['provider', 'model', 'class'],
  },
  turnpike_provider_cost_usd_total: {
    kind: 'counter',
    help: 'Cost billed by providers, in USD.',
    labels: ['provider', 'model'],
  },
  turnpike_counterfactual_cost_usd_total: {
    kind: 'counter',
    help: 'Cost of the same requests without the gateway, in USD; minus the billed cost this is the saving. `basis`: `same`, `cached-reply`, `estimate`.',
    labels: ['basis'],
  },
  turnpike_prompt_cache_lost_usd_total: {
    kind: 'counter',
    help: 'Cost of prefixes that a provider had in its prompt cache and did not read, in USD: as paid, minus the price of reading them. `reason`: see [conversations](../conversations.md#why-a-prefix-was-lost).',
    labels: ['reason'],
  },
  turnpike_prompt_cache_lost_tokens_total: {
    kind: 'counter',
    help: 'The tokens of these prefixes.',
    labels: ['reason'],
  },
  turnpike_team_requests_total: {
    kind: 'counter',
    help: 'Requests with a key of a team that passed through a pipeline, by the team’s id; `other` beyond 200 teams. `outcome`: as of `turnpike_model_requests_total`.',
    labels: ['team', 'outcome'],
    mostSeries: MOST_TEAMS * OUTCOMES,
  },
  turnpike_team_cost_usd_total: {
    kind: 'counter',
    help: 'Their cost billed by providers, in USD.',
    labels: ['team'],
    mostSeries: MOST_TEAMS,
  },
  turnpike_tag_requests_total: {
    kind: 'counter',
    help: 'Requests with a tag that passed through a pipeline, once for each of their tags; `other` beyond the first 200 tags of a process.',
    labels: ['tag'],
    mostSeries: MOST_TAGS,
  },
  turnpike_tag_cost_usd_total: {
    kind: 'counter',
    help: 'Their cost billed by providers, in USD: in full for each of their tags.',
    labels: ['tag'],
    mostSeries: MOST_TAGS,
  },
  turnpike_unpriced_requests_total: {
    kind: 'counter',
    help: 'Requests of unknown cost; they are in no sum of money.',
    labels: [],
  },
  turnpike_module_runs_total: {
    kind: 'counter',
    help: 'Actions of plugins on requests: `ran`, `hit`, `miss`, …; `bypassed` when one failed or timed out.',
    labels: ['module', 'action'],
  },
  turnpike_module_duration_seconds: {
    kind: 'histogram',
    help: 'Time in a plugin itself, without its wait for downstream.',
    labels: ['module'],
    buckets: OWN,
  },
  turnpike_alerts_total: {
    kind: 'counter',
    help: 'Alerts that this process raised, by their kind (`cap`, `key`, `provider`, `spend`, `health`) and severity. Of several processes with the same alert one counts it. See [alerts](../alerts.md).',
    labels: ['kind', 'severity'],
  },
  turnpike_alert_deliveries_total: {
    kind: 'counter',
    help: 'Tries of this process to deliver an alert to a channel of `alerts.channels`. `outcome`: `sent`, `failed`.',
    labels: ['channel', 'outcome'],
  },
  turnpike_info: {
    kind: 'gauge',
    help: 'Always 1, with the running build and mode as labels.',
    labels: ['version', 'mode', 'node'],
  },
  process_start_time_seconds: { kind: 'gauge', help: 'Start time of the process, in seconds since 1970.', labels: [] },
  process_cpu_seconds_total: { kind: 'counter', help: 'CPU time of all threads of the process.', labels: [] },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Resident memory of the process.', labels: [] },
  nodejs_heap_size_used_bytes: { kind: 'gauge', help: 'Used size of the JavaScript heap.', labels: [] },
  nodejs_external_memory_bytes: { kind: 'gauge', help: 'Buffers and other memory outside the heap.', labels: [] },
  nodejs_eventloop_delay_seconds: {
    kind: 'gauge',
    help: 'Upper bound of timer delay for that share of the time since the last sample.',
    labels: ['quantile'],
  },
  nodejs_eventloop_utilization: {
    kind: 'gauge',
    help: 'Share of the time since the last sample in which the main thread was busy, 0 to 1.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>

/** The name of a metric. */
export type MetricName = keyof typeof METRICS

/** Returns a metric’s definition by its name. */
export function definitionOf(name: MetricName): MetricDefinition {
  return METRICS[name]
}
