/** What a metric tells. */
export interface MetricDefinition {
  /** A counter only grows until the process ends; a gauge goes up and down; a histogram counts values by their size. */
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram's buckets, in the metric's unit, ascending. */
  readonly buckets?: readonly number[]
}

/** Seconds: from a reply out of the cache to the longest of thoughts. */
const WHOLE = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** Seconds: a gateway's own share is told in parts of a millisecond. */
const OWN = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** Every metric there is: `/metrics` and the reference page are printed from this table. */
export const METRICS = {
  turnpike_http_requests_total: {
    kind: 'counter',
    help: 'Requests whose reply has ended, whatever became of it. `route` is the pattern of the path, `unmatched` for one that is none.',
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
    help: 'Errors that the gateway itself has answered, by their code: see the reference of errors.',
    labels: ['code'],
  },
  turnpike_model_requests_total: {
    kind: 'counter',
    help: 'Requests that passed through a pipeline. `outcome`: `complete`, `incomplete` (the answer broke off), `cancelled` (the client left), `error`. `cache`: `hit`, `attached` (shared with a call under way), `miss`, `none`.',
    labels: ['route', 'provider', 'model', 'outcome', 'cache'],
  },
  turnpike_gateway_duration_seconds: {
    kind: 'histogram',
    help: 'The gateway’s own share of the wait for the first of a reply: from the whole request, without the wait for providers.',
    labels: [],
    buckets: OWN,
  },
  turnpike_provider_wait_seconds: {
    kind: 'histogram',
    help: 'The wait for providers, until the first of a reply.',
    labels: ['provider'],
    buckets: WHOLE,
  },
  turnpike_provider_attempts_total: {
    kind: 'counter',
    help: 'Calls to providers. `status` is `none` when there was no answer.',
    labels: ['provider', 'outcome', 'status'],
  },
  turnpike_tokens_total: {
    kind: 'counter',
    help: 'Tokens that replies told. `class`: `input` (what no prompt cache held), `output`, `cache_read`, `cache_write`. Of a reply from a cache, those of the stored answer.',
    labels: ['provider', 'model', 'class'],
  },
  turnpike_provider_cost_usd_total: {
    kind: 'counter',
    help: 'What providers bill, in USD.',
    labels: ['provider', 'model'],
  },
  turnpike_counterfactual_cost_usd_total: {
    kind: 'counter',
    help: 'What the same requests would have cost without the gateway, in USD; less what was billed it is what was saved. `basis`: `same`, `cached-reply`, `estimate`.',
    labels: ['basis'],
  },
  turnpike_unpriced_requests_total: {
    kind: 'counter',
    help: 'Requests whose cost cannot be known; they are in no sum of money.',
    labels: [],
  },
  turnpike_module_runs_total: {
    kind: 'counter',
    help: 'What modules did with requests: `ran`, `hit`, `miss`, …; `bypassed` when one failed or took too long.',
    labels: ['module', 'action'],
  },
  turnpike_module_duration_seconds: {
    kind: 'histogram',
    help: 'Time in a module itself, without what it waited for downstream.',
    labels: ['module'],
    buckets: OWN,
  },
  turnpike_info: {
    kind: 'gauge',
    help: 'Always 1: which build runs, in which mode.',
    labels: ['version', 'mode', 'node'],
  },
  process_start_time_seconds: { kind: 'gauge', help: 'When the process began, in seconds since 1970.', labels: [] },
  process_cpu_seconds_total: { kind: 'counter', help: 'CPU time of all its threads.', labels: [] },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Memory that is held.', labels: [] },
  nodejs_heap_size_used_bytes: { kind: 'gauge', help: 'Of the heap of JavaScript, what is in use.', labels: [] },
  nodejs_external_memory_bytes: { kind: 'gauge', help: 'Buffers and what else lies beside the heap.', labels: [] },
  nodejs_eventloop_delay_seconds: {
    kind: 'gauge',
    help: 'How late timers come, at most, for that share of the time since the last look.',
    labels: ['quantile'],
  },
  nodejs_eventloop_utilization: {
    kind: 'gauge',
    help: 'The share of the time since the last look in which the main thread was busy, 0 to 1.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>

/** The name of a metric. */
export type MetricName = keyof typeof METRICS

/** A metric’s definition, by its name. */
export function definitionOf(name: MetricName): MetricDefinition {
  return METRICS[name]
}
