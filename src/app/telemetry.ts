import type { KeyObject } from 'node:crypto'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import type { CostSplitter, Prices } from '../core/money/prices.ts'
import type { Channel } from '../core/ports/channel.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { RequestRecord } from '../core/ports/request-record.ts'
import { firstReceiptIdAt } from '../core/telemetry/receipt-id.ts'
import type { FinishedRequest } from '../core/telemetry/telemetry.ts'
import type { LiveFeed } from '../http/dashboard/live-feed.ts'
import type { MetricsRouteOptions } from '../http/routes/metrics.ts'
import type { Journal } from '../journal/journal.ts'
import { Metrics } from '../journal/metrics/metrics.ts'
import { METRICS_TYPE, printMetrics } from '../journal/metrics/print.ts'
import { collector } from '../journal/metrics/workers.ts'
import { PrefixLosses } from '../journal/prefix/losses.ts'
import { finishedRequestOf } from '../journal/receipts/finished-request.ts'
import { ledgerKeyOf, openKeyRing } from '../journal/receipts/key-ring.ts'
import { assertOwnLedger } from '../journal/receipts/own-ledger.ts'
import { ReceiptKeyError } from '../journal/receipts/public-key.ts'
import {
  createReceipts,
  type Receipts,
  type ReceiptsOptions,
  type ReplyRecorder,
} from '../journal/receipts/receipts.ts'
import { Refusals } from '../journal/receipts/refusals.ts'
import type { Tracer } from '../journal/tracing/tracer.ts'
import { createReceiptStore } from '../stores/sql/receipts/receipt-store.ts'
import { createRetention, type Retention } from '../stores/sql/retention/retention.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { openTelemetryStore, type SqlTelemetry } from '../stores/sql/telemetry/telemetry.ts'
import type { Alerts } from './alerts.ts'
import { type Opened, openParts } from './open-parts.ts'
import type { Spend } from './spend.ts'

/** Receipts, rows, metrics and traces of requests. */
export interface Telemetry {
  readonly receipts: Receipts
  /** The private key of receipts, which gateways on one database share. */
  readonly signingKey: KeyObject
  /** Records how replies ended; `undefined` when recording is off. */
  readonly recorder: ReplyRecorder | undefined
  /** Rows of requests; `undefined` when they are off. */
  readonly store: SqlTelemetry | undefined
  /** Metrics; `undefined` when they are off. */
  readonly metrics: Metrics | undefined
  /** Counts every ended request, and adds rows for those that were refused before their pipeline. */
  observe(record: RequestRecord): void
  /**
   * Starts deleting old rows; called after plugins are set up, before which the process is too busy for queries to
   * return in time.
   */
  startRetention(): void
}

/** Input of `openTelemetry`. */
export interface TelemetryOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly spend: Spend
  /** Notes finished and refused requests; `undefined` without alerts. */
  readonly alerts: Pick<Alerts, 'note' | 'observe'> | undefined
  /** Publishes each request that gets a row. */
  readonly feed: Pick<LiveFeed, 'publish'>
  /** Runs what follows replies. */
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
}

/** Opens receipts, telemetry and metrics. Throws `ConfigError` when `data_dir` has no key that can sign the ledger. */
export function openTelemetry(options: TelemetryOptions): Promise<Opened<Telemetry>> {
  const { config, database, spend, alerts, feed, journal, clock, log } = options
  const drainMs = config.server.drain_timeout
  return openParts(options, async (disposal) => {
    const keys = await explained(() => openKeyRing(config.data_dir))
    const tracer = disposal.use('tracing', await openTracing(options))
    const store = openRequestRows(options)
    disposal.add('telemetry', () => store?.close(drainMs))
    const retention = disposal.use('retention', openRetention(options, store))
    const metrics = config.metrics.enabled ? new Metrics({ version: config.build, mode: config.mode }) : undefined
    const onBuilt = fanOut(config, { store, alerts, feed, metrics, tracer, pricer: spend.prices })
    const { prices: pricer, tokens } = spend
    const receiptStore = createReceiptStore(database, ledgerKeyOf(keys))
    if (sharesLedger(config)) await explained(() => assertOwnLedger(receiptStore, keys))
    const receipts = createReceipts({ keys, pricer, tokens, store: receiptStore, journal, clock, log, onBuilt })
    disposal.add('receipts', () => receipts.close(drainMs))
    const refusals = refusalsOf(store, options)
    const unwritten = onBuilt && receipts.unwritten
    return {
      receipts,
      signingKey: keys.own.privateKey,
      recorder: config.receipts.enabled ? receipts : unwritten,
      store,
      metrics,
      observe(record) {
        metrics?.leave(record)
        if (record.error !== undefined) alerts?.observe(record)
        refusals?.note(record)
      },
      startRetention: () => retention.start(),
    }
  })
}

/** Adds rows for refused requests, and publishes them, as for other requests. */
function refusalsOf(store: SqlTelemetry | undefined, { feed }: TelemetryOptions): Refusals | undefined {
  if (store === undefined) return undefined
  const record = (request: FinishedRequest): void => {
    store.record(request)
    feed.publish(request)
  }
  return new Refusals({ record })
}

/** Returns the options of `GET /metrics`. */
export function metricsRouteOf(
  { metrics, journal, workers }: Pick<Telemetry, 'metrics'> & { journal: Journal; workers: Channel | undefined },
  { mode, metrics: { token } }: Config,
): MetricsRouteOptions {
  const snapshot = (counted: Metrics) => {
    journal.flush()
    return counted.snapshot()
  }
  const collect = metrics && collector(() => snapshot(metrics), workers)
  return { print: collect && (async () => printMetrics(await collect())), type: METRICS_TYPE, token, mode }
}

interface Listeners {
  readonly alerts: TelemetryOptions['alerts']
  readonly store: SqlTelemetry | undefined
  readonly feed: TelemetryOptions['feed']
  readonly metrics: Metrics | undefined
  readonly tracer: Tracer | undefined
  readonly pricer: CostSplitter & Pick<Prices, 'price'>
}

/** Fans each receipt out to rows, the live feed, metrics and traces; `undefined` when all are off. */
function fanOut({ receipts }: Config, listeners: Listeners): ReceiptsOptions['onBuilt'] {
  const { store, alerts, feed, metrics, tracer, pricer } = listeners
  if ([store, alerts, metrics, tracer].every((one) => one === undefined)) return undefined
  const hasReceipt = receipts.enabled
  const hasConversation = [store, tracer].some((one) => one !== undefined)
  // Without rows nothing shows a loss.
  const losses = store && new PrefixLosses(pricer)
  return (receipt, facts) => {
    const lost = losses?.lossOf(facts) ?? null
    const finished = finishedRequestOf(receipt, facts, { hasReceipt, hasConversation, pricer, lost })
    store?.record(finished)
    if (store !== undefined) feed.publish(finished)
    metrics?.count(finished)
    alerts?.note(finished)
    tracer?.record(finished, facts.exchange.headers)
  }
}

/** Loads OpenTelemetry only where an endpoint is configured. */
async function openTracing({ config: { tracing, build }, log }: TelemetryOptions): Promise<Tracer | undefined> {
  const { endpoint, headers, service_name: serviceName } = tracing
  if (endpoint === undefined) return undefined
  const { openTracer } = await import('../journal/tracing/tracer.ts')
  return openTracer({ endpoint, headers, serviceName, version: build, log })
}

function openRequestRows({ config, database, journal, clock, log }: TelemetryOptions): SqlTelemetry | undefined {
  const { data_dir: dataDir, database_url: databaseUrl, telemetry } = config
  if (!telemetry.enabled) return undefined
  const beforeRead = () => journal.flush()
  return openTelemetryStore({ databaseUrl, dataDir, accounts: database, beforeRead, log, clock })
}

function openRetention(
  { config, database, clock, log }: TelemetryOptions,
  telemetry: SqlTelemetry | undefined,
): Retention {
  return createRetention({
    store: database,
    receiptsMs: config.receipts.keep,
    telemetry: telemetry && { store: telemetry, keepMs: config.telemetry.keep },
    firstIdAt: firstReceiptIdAt,
    clock,
    log,
  })
}

/** True if other gateways, with data folders of their own, may add to the ledger. */
function sharesLedger({ receipts, database_url: url }: Config): boolean {
  return receipts.enabled && url !== undefined
}

/** Throws `ConfigError` for a key of receipts that is not usable, missing or another's. */
async function explained<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ReceiptKeyError) throw new ConfigError(error.message, { cause: error })
    throw error
  }
}
