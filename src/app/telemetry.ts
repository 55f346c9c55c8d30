import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { RequestRecord } from '../core/ports/request-record.ts'
import type { FinishedRequest } from '../core/telemetry/telemetry.ts'
import type { LiveFeed } from '../http/dashboard/live-feed.ts'
import type { MetricsRouteOptions } from '../http/routes/metrics.ts'
import { Metrics } from '../metrics/metrics.ts'
import { METRICS_TYPE, printMetrics } from '../metrics/print.ts'
import { collector } from '../metrics/workers.ts'
import { finishedRequestOf } from '../receipts/finished-request.ts'
import { ReceiptKeyError } from '../receipts/public-key.ts'
import { firstReceiptIdAt } from '../receipts/receipt-id.ts'
import { createReceipts, type Receipts, type ReceiptsOptions, type ReplyRecorder } from '../receipts/receipts.ts'
import { Refusals } from '../receipts/refusals.ts'
import { openReceiptKey, type ReceiptKey } from '../receipts/signing-key.ts'
import { createReceiptStore } from '../stores/sql/receipt-store.ts'
import { createRetention, type Retention } from '../stores/sql/retention.ts'
import { openTelemetry, type SqlTelemetry } from '../stores/sql/telemetry/telemetry.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Accounting } from './spend.ts'

/** What is kept and counted of requests. */
export interface Recording {
  readonly receipts: Receipts
  /** Who is told how replies ended; `undefined`: nobody is. */
  readonly recorder: ReplyRecorder | undefined
  /** `undefined` when it is switched off. */
  readonly telemetry: SqlTelemetry | undefined
  /** `undefined` when nothing is counted. */
  readonly metrics: Metrics | undefined
  /** Counts every request that has ended; those that were refused before their pipeline become rows. */
  observe(record: RequestRecord): void
  /**
   * Starts deleting old rows. Until plugins are set up, the process is too busy to hear the database's answers in time.
   */
  startRetention(): void
}

/** What recording is opened with. */
export interface RecordingOptions {
  readonly config: Config
  readonly accounting: Accounting
  /** Is told of each request that telemetry takes in. */
  readonly feed: Pick<LiveFeed, 'publish'>
  readonly clock: Clock
  readonly log: Log
  readonly disposal: Disposal
}

/** Opens receipts, telemetry and metrics. Throws `ConfigError` when `data_dir` holds no usable key of receipts. */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { config, accounting, feed, clock, log, disposal } = options
  const { prices: pricer, tokens, store } = accounting
  const key = openKey(config)
  const telemetry = startTelemetry(options)
  const retention = openRetention(options, telemetry)
  const metrics = config.metrics.enabled ? new Metrics({ version: config.build, mode: config.mode }) : undefined
  const tracer = await startTracer(options)
  const onBuilt = whatIsTold(config, { telemetry, feed, metrics, tracer })
  const receipts = createReceipts({ key, pricer, tokens, store: createReceiptStore(store), clock, log, onBuilt })
  disposal.add('tracing', () => tracer?.close())
  disposal.add('telemetry', () => telemetry?.close(config.server.drain_timeout))
  disposal.add('retention', () => retention.close())
  disposal.add('receipts', () => receipts.close(config.server.drain_timeout))
  const refusals = refusalsOf(telemetry, options)
  const unwritten = onBuilt && receipts.unwritten
  return {
    receipts,
    recorder: config.receipts.enabled ? receipts : unwritten,
    telemetry,
    metrics,
    observe(record) {
      metrics?.leave(record)
      refusals?.note(record)
    },
    startRetention: () => retention.start(),
  }
}

/** They are shown where other requests are. */
function refusalsOf(telemetry: SqlTelemetry | undefined, { feed, clock }: RecordingOptions): Refusals | undefined {
  if (telemetry === undefined) return undefined
  const record = (request: FinishedRequest): void => {
    telemetry.record(request)
    feed.publish(request)
  }
  return new Refusals({ clock, record })
}

/** What `/metrics` answers with. */
export function metricsRouteOf(
  metrics: Metrics | undefined,
  { mode, metrics: { token } }: Config,
): MetricsRouteOptions {
  const collect = metrics && collector(() => metrics.snapshot())
  return { print: collect && (async () => printMetrics(await collect())), type: METRICS_TYPE, token, mode }
}

interface Listeners {
  readonly telemetry: SqlTelemetry | undefined
  readonly feed: RecordingOptions['feed']
  readonly metrics: Metrics | undefined
  readonly tracer: Tracer | undefined
}

/** Who hears what each receipt says; `undefined` when nobody listens. */
function whatIsTold({ receipts }: Config, { telemetry, feed, metrics, tracer }: Listeners): ReceiptsOptions['onBuilt'] {
  if (telemetry === undefined && metrics === undefined && tracer === undefined) return undefined
  const kept = { hasReceipt: receipts.enabled }
  return (receipt, facts) => {
    const finished = finishedRequestOf(receipt, facts, kept)
    telemetry?.record(finished)
    if (telemetry !== undefined) feed.publish(finished)
    metrics?.count(finished)
    tracer?.record(finished, facts.exchange.headers)
  }
}

/** Loads what makes traces only where somebody wants them. */
async function startTracer({ config: { tracing, build }, log }: RecordingOptions): Promise<Tracer | undefined> {
  const { endpoint, headers, service_name: serviceName } = tracing
  if (endpoint === undefined) return undefined
  const { openTracer } = await import('../tracing/tracer.ts')
  return openTracer({ endpoint, headers, serviceName, version: build, log })
}

function startTelemetry({ config, accounting, clock, log }: RecordingOptions): SqlTelemetry | undefined {
  const { data_dir: dataDir, database_url: databaseUrl, telemetry } = config
  return telemetry.enabled ? openTelemetry({ databaseUrl, dataDir, accounts: accounting.store, log, clock }) : undefined
}

function openRetention(
  { config, accounting, clock, log }: RecordingOptions,
  telemetry: SqlTelemetry | undefined,
): Retention {
  return createRetention({
    store: accounting.store,
    receiptsMs: config.receipts.keep,
    telemetry: telemetry && { store: telemetry, keepMs: config.telemetry.keep },
    firstIdAt: firstReceiptIdAt,
    clock,
    log,
  })
}

/** Throws `ConfigError` when there is no usable key, and none can be made there. */
function openKey({ data_dir: dataDir }: Config): ReceiptKey {
  try {
    return openReceiptKey(dataDir)
  } catch (error) {
    if (error instanceof ReceiptKeyError) throw new ConfigError(error.message, { cause: error })
    throw error
  }
}
