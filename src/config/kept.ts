import { z } from 'zod'
import { duration } from '../core/units.ts'
import { address, fromEnv } from '../providers/options.ts'

/** Receipts and their retention. */
export const receipts = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Record a receipt of each model reply in the signed ledger. `false` saves the CPU of digests and canonical JSON (less while `telemetry` is on); requests can then not be proved.',
    ),
  keep: duration({ min: '0s', max: '3650d' })
    .prefault('400d')
    .describe(
      'Retention of receipts; `0s`: forever. The default covers a year’s accounts and the weeks in which a bill may be disputed. Lower it where disk is scarce: a receipt takes about 1.5 KB.',
    ),
})

/** Usage rows and traces, and their retention. */
export const telemetry = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Store a row of usage figures and a trace of plugin steps for each request, without prompts and replies; the dashboard reads them. SQLite keeps them in a separate file, `telemetry.db`, which requests never wait for.',
    ),
  keep: duration({ min: '1h', max: '3650d' })
    .prefault('30d')
    .describe(
      'Retention of rows and traces, about 1 KB per request. Sums by hour and model are kept for 400 days regardless.',
    ),
})

/** Counters and histograms for dashboards and alerts. */
export const metrics = z.strictObject({
  enabled: fromEnv(z.stringbool().or(z.boolean()).default(true), 'SVC_METRICS').describe(
    'Collect metrics in this process and serve them at `GET /metrics` in the Prometheus text format. Costs some microseconds per request.',
  ),
  token: fromEnv(z.string().min(16).optional(), 'SVC_METRICS_TOKEN', { secret: true }).describe(
    'Bearer token required to read `/metrics`. Unset: local mode allows clients on this machine, cloud mode refuses all.',
  ),
})

/** OpenTelemetry traces of requests. */
export const tracing = z.strictObject({
  endpoint: fromEnv(address.optional(), 'OTEL_EXPORTER_OTLP_ENDPOINT').describe(
    'Address of a collector that accepts OTLP over HTTP, e.g. `http://localhost:4318`. Unset: no traces, and no tracing code is loaded. When set, provider calls carry `traceparent`.',
  ),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ secret: true })
    .describe('Headers for the collector. `OTEL_EXPORTER_OTLP_HEADERS` is read as well.'),
  service_name: fromEnv(z.string().min(1).default('turnpike'), 'OTEL_SERVICE_NAME').describe(
    'Service name of this gateway in traces.',
  ),
})
