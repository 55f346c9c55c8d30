import { createChannels } from '../alerts/channels/channels.ts'
import { type AlertCounts, createOutbox } from '../alerts/outbox.ts'
import { tryChannel } from '../alerts/try-channel.ts'
import { KeyNetworks } from '../alerts/watch/key-networks.ts'
import type { WatchedLog } from '../alerts/watch/log-watch.ts'
import { ProviderWatch } from '../alerts/watch/provider-watch.ts'
import { RefusedCaps } from '../alerts/watch/refused-caps.ts'
import type { SpendHistory } from '../alerts/watch/spend-watch.ts'
import { startWatch } from '../alerts/watch/watch.ts'
import type { Config } from '../config/schema.ts'
import { toNanoUsd } from '../core/money/usd.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { FindNames } from '../core/ports/names.ts'
import type { RequestRecord } from '../core/ports/request-record.ts'
import { EVERYBODY, type FinishedRequest } from '../core/telemetry/telemetry.ts'
import type { AlertBooks } from '../http/dashboard/alerts.ts'
import { createAlertStore } from '../stores/sql/alerts/alert-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import type { SqlTelemetry } from '../stores/sql/telemetry/telemetry.ts'
import { type Opened, openParts } from './open-parts.ts'

const HOUR_MS = 3_600_000

/** The watch for what operators should know, and the outbox of its alerts. */
export interface Alerts {
  /** Notes a finished request; cheap, and called after its reply. */
  note(request: FinishedRequest): void
  /** Notes an ended request, which a cap may have refused. */
  observe(record: RequestRecord): void
  /** Networks of keys; `undefined` where they are not counted. */
  readonly networks: KeyNetworks | undefined
  /** Starts to read facts; `telemetry` has the spend of earlier weeks, `counts` the metrics of this process. */
  start(parts: { telemetry: SqlTelemetry | undefined; counts: AlertCounts | undefined }): void
}

/** Input of `openAlerts`. */
export interface AlertsOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly watched: WatchedLog
  readonly clock: Clock
  readonly log: Log
}

/** True when the configuration asks for alerts. */
function hasAlerts({ alerts: { enabled, channels } }: Config): boolean {
  return enabled ?? Object.keys(channels).length > 0
}

/** Opens the alerts; `undefined` where none are configured. */
export function openAlerts(options: AlertsOptions): Promise<Opened<Alerts>> | undefined {
  if (!hasAlerts(options.config)) return undefined
  const { config, database, watched, clock, log } = options
  const {
    slow_after: slowAfterMs,
    repeat: repeatMs,
    retry_after: retryMs,
    every: everyMs,
    networks: most,
  } = config.alerts
  return openParts(options, (disposal) => {
    const store = createAlertStore(database)
    const channels = createChannels(config.alerts, { clock, pages: config.server.public_url })
    let counts: AlertCounts | undefined
    const count: AlertCounts = {
      raised: (alert) => counts?.raised(alert),
      delivered: (channel, outcome) => counts?.delivered(channel, outcome),
    }
    const outbox = createOutbox({ store, channels, retryMs, clock, log, count })
    disposal.add('outbox of alerts', () => outbox.close(config.server.drain_timeout))
    const { raise } = outbox
    const findNames: FindNames = (query) => database.run('names.find', query)
    watched.open(raise, repeatMs)
    const providers = new ProviderWatch({ slowAfterMs, repeatMs })
    const refused = new RefusedCaps()
    return {
      note: (request) => providers.note(request),
      observe: (record) => refused.note(record, record.endedAtMs),
      networks: most === 0 ? undefined : new KeyNetworks({ most, repeatMs, clock, raise, findNames }),
      start({ telemetry, counts: metrics }) {
        counts = metrics
        const { caps: shares, spend_floor: floor } = config.alerts
        const spend = telemetry && historyOf(telemetry)
        const floorNanoUsd = toNanoUsd(floor)
        const parts = { store, raise, findNames, providers, refused, spend, shares, floorNanoUsd, everyMs, clock, log }
        disposal.use('watch of alerts', startWatch(parts))
      },
    }
  })
}

function historyOf(telemetry: SqlTelemetry): SpendHistory {
  return {
    async costOf({ fromMs, toMs }) {
      const stepMs = Math.max(HOUR_MS, toMs - fromMs)
      const sums = await telemetry.usage(EVERYBODY, { fromMs, toMs, stepMs })
      return sums.reduce((total, { costNanoUsd }) => total + costNanoUsd, 0)
    },
    firstHourMs: async () => (await telemetry.run('telemetry.first-hour', {})) ?? undefined,
  }
}

/** Creates the list of alerts and the tests of channels for the dashboard, also where nothing is watched. */
export function createAlertBooks({
  config,
  database,
  clock,
}: Pick<AlertsOptions, 'config' | 'database' | 'clock'>): AlertBooks {
  const channels = createChannels(config.alerts, { clock, pages: config.server.public_url })
  const store = createAlertStore(database)
  return {
    isOn: hasAlerts(config),
    channels: channels.map(({ name, kind, kinds }) => ({ name, kind, kinds: [...kinds] })),
    caps: config.alerts.caps,
    list: (page) => store.list(page),
    test: (name) => tryChannel(channels, name, clock),
  }
}
