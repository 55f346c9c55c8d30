import { z } from 'zod'
import { duration } from '../core/units.ts'
import { address, fromEnv } from '../providers/options.ts'

/** What is proved of requests, and for how long. */
export const receipts = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether replies of models have receipts. Off saves the CPU of digests and a signature for each request, less while `telemetry` is on, and nobody can prove what happened.',
    ),
  keep: duration({ min: '0s', max: '3650d' })
    .prefault('400d')
    .describe(
      'How long receipts are kept; `0s`: for ever. The default covers a year’s books and the weeks in which a bill is disputed. Lower it where disk is scarce: a receipt takes about 1.5 KB.',
    ),
})

/** What is counted of requests, and for how long. */
export const telemetry = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether each request leaves a row of usage figures and a trace of what modules did, without prompts and answers: what the dashboard shows. SQLite keeps them in a file of their own, `telemetry.db`, that requests never wait for.',
    ),
  keep: duration({ min: '1h', max: '3650d' })
    .prefault('30d')
    .describe(
      'How long rows and traces are kept, about 1 KB a request. Sums by hour and model stay for 400 days in any case.',
    ),
})

/** What is counted of requests, for dashboards and alarms. */
export const metrics = z.strictObject({
  enabled: fromEnv(z.stringbool().or(z.boolean()).default(true), 'SVC_METRICS').describe(
    'Whether this process counts what happens, for `GET /metrics` in the text format of Prometheus. Costs some microseconds a request.',
  ),
  token: fromEnv(z.string().min(16).optional(), 'SVC_METRICS_TOKEN', { secret: true }).describe(
    'Whoever shows it as a bearer token may read `/metrics`. Unset: in local mode this machine may, in cloud mode nobody.',
  ),
})

/** What requests did, for a collector of traces. */
export const tracing = z.strictObject({
  endpoint: fromEnv(address.optional(), 'OTEL_EXPORTER_OTLP_ENDPOINT').describe(
    'Address of a collector that takes OpenTelemetry’s protocol over HTTP, as `http://localhost:4318`. Unset: no traces, and nothing of them is loaded. With it, calls to providers carry `traceparent`.',
  ),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ secret: true })
    .describe('Headers for the collector. `OTEL_EXPORTER_OTLP_HEADERS` is read as well.'),
  service_name: fromEnv(z.string().min(1).default('turnpike'), 'OTEL_SERVICE_NAME').describe(
    'What this gateway is called in traces.',
  ),
})
