import type { Server } from 'node:http'
import { type WatchedLog, watchLog } from '../alerts/watch/log-watch.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Disposal } from '../core/disposal.ts'
import type { Channel } from '../core/ports/channel.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { RequestObserver } from '../core/ports/request-record.ts'
import { Conversations } from '../core/request/conversation/conversations.ts'
import { shareConversations } from '../core/request/conversation/shared.ts'
import { createMessagesDialect } from '../dialects/messages/dialect.ts'
import { InternalRequests } from '../http/internal-requests.ts'
import { Readiness } from '../http/readiness.ts'
import { Journal } from '../journal/journal.ts'
import type { Pipelines } from '../pipeline/pipelines.ts'
import type { PluginRegistry } from '../pipeline/registry.ts'
import type { Providers } from '../providers/providers.ts'
import { openRedisChannel, openWorkerChannel } from '../stores/channels/open.ts'
import { createByteStores } from '../stores/kv/stores.ts'
import { createStoredResponses } from '../stores/sql/responses/stored-responses.ts'
import { createSettingStore } from '../stores/sql/settings/setting-store.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { assertModeComplete, openAccounts } from './accounts.ts'
import { openAgentPayments } from './agent-payments.ts'
import { openAlerts } from './alerts.ts'
import { openBilling } from './billing.ts'
import { openDashboard, openIntake } from './dashboard.ts'
import { openDatabase } from './database.ts'
import { openLimits } from './limits.ts'
import { openParts } from './open-parts.ts'
import { openPipelines } from './pipelines.ts'
import { openPlugins } from './plugins.ts'
import { openProviders } from './providers.ts'
import { createIntakes, createServer } from './server.ts'
import { openSettings } from './settings/control.ts'
import { offerLink } from './sign-in.ts'
import { openSpend } from './spend.ts'
import { openTelemetry } from './telemetry.ts'

/** Input of `createApp`. */
export interface AppOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
  readonly startedAtMs: number
  readonly observers: readonly RequestObserver[]
  /** The configuration with the source of each value. */
  readonly loaded: LoadedConfig
}

/** A gateway that is not listening yet. */
export interface App {
  readonly server: Server
  readonly pipelines: Pipelines
  readonly registry: PluginRegistry
  readonly providers: Providers
  /** Reports `draining` to load balancers from now on; requests that still arrive are served. */
  endReadiness(): void
  /** Returns the secret of a link that makes the first operator; `undefined` where there is one, or no sign-in. */
  offerFirstOperator(): Promise<string | undefined>
  /** Ends connections that do not end by themselves and would delay closing the server. */
  endFeeds(): void
  /** Ends all connections now. */
  cut(): void
  /** Closes plugins, provider connections and stores, after the server has drained. */
  close(): Promise<void>
}

/**
 * Opens every subsystem of the gateway. Throws `ConfigError` when an option that the mode requires is missing,
 * `PluginError` when a plugin of the operator's pipeline cannot be used; closes all subsystems opened until then.
 */
export async function createApp(options: AppOptions): Promise<App> {
  assertModeComplete(options.config)
  const watched = watchLog(options.log)
  return openParts(options, (disposal) => openSubsystems({ ...options, log: watched.log, watched }, disposal))
}

/** Options with the log that raises alerts. */
type Watched = AppOptions & { readonly watched: WatchedLog }

/** Opens each subsystem after those that it depends on; they close in reverse order. */
async function openSubsystems(options: Watched, disposal: Disposal): Promise<Omit<App, 'close'>> {
  const { config, log, clock } = options
  const stores = disposal.use('stores', await createByteStores({ redisUrl: config.redis_url, log }))
  const database = disposal.use('database', await openDatabase(options))
  const spend = disposal.nest(await openSpend({ ...options, database }))
  const alerts = disposal.nest(await openAlerts({ ...options, database }))
  const journal = disposal.use('journal', new Journal(log))
  const workers = disposal.use('workers', openWorkerChannel())
  const channel = disposal.use('channel', await openInstanceChannel(options)) ?? workers
  const intake = openIntake({ ...options, stores, channel, journal })
  const telemetry = disposal.nest(
    await openTelemetry({ ...options, database, spend, alerts, journal, feed: intake.feed }),
  )
  const { providers, factory } = disposal.use('providers', await openProviders({ ...options, tokens: spend.tokens }))
  const limits = disposal.use('limits', await openLimits({ ...options, networks: alerts?.networks }))
  const conversations = new Conversations(() => clock.nowMs())
  if (channel !== undefined) shareConversations(conversations, channel)
  const internal = new InternalRequests()
  const { registry } = disposal.nest(
    await openPlugins({ ...options, stores, spend, internal, journal, signingKey: telemetry.signingKey }),
  )
  const pipelines = openPipelines({ config, registry, providers, log })
  internal.open({ pipelines, dialect: createMessagesDialect(), providers, prices: spend.prices, clock })
  const assertPipeline = (text: string) => void pipelines.for(undefined, text)
  const intakes = createIntakes(config)
  const accounts = disposal.nest(
    await openAccounts({ ...options, database, telemetry: telemetry.store, limits, intakes, assertPipeline }),
  )
  const agentPayments = await openAgentPayments({ ...options, database, spend, stores })
  disposal.use('agent payments', agentPayments)
  const shared = { pipelines, registry, limits, intakes, accounts, agentPayments, telemetry }
  const store = createSettingStore(database)
  const parts = { ...options, store, spend, providers, factory, pipelines, channel, registry, database }
  const { control: settings } = disposal.use('settings', await openSettings(parts))
  const dashboard = openDashboard({ ...options, ...shared, intake, database, settings })
  const session = accounts.routes?.session
  const billing = session && openBilling({ ...options, database, session, onIntent: agentPayments?.reconcile })
  disposal.use('billing', billing)
  const readiness = new Readiness(() => database.isInPlace())
  const { capture, live, requests } = intake
  const responses = disposal.use('responses', openResponses(options, database))
  const { server, sockets } = createServer(options, {
    ...shared,
    journal,
    workers,
    providers,
    spend,
    billing,
    capture,
    requests,
    conversations,
    dashboard,
    readiness,
    responses,
  })
  telemetry.startRetention()
  alerts?.start({ telemetry: telemetry.store, counts: telemetry.metrics })
  return {
    server,
    pipelines,
    registry,
    providers,
    offerFirstOperator: () => offerLink(config, accounts.signIn),
    endReadiness: () => readiness.end(server),
    endFeeds() {
      live.close()
      sockets.drain(config.server.drain_timeout)
    },
    cut() {
      server.closeAllConnections()
      sockets.cut()
    },
  }
}

function openResponses({ config, log }: AppOptions, store: SqlStore) {
  const { ttl: ttlMs, most_of_caller: mostOfCaller, total: mostBytes } = config.responses
  return createStoredResponses({ store, ttlMs, mostOfCaller, mostBytes, log })
}

/** Only the dashboard publishes to other instances. */
async function openInstanceChannel({ config, log }: AppOptions): Promise<Channel | undefined> {
  const { redis_url: redisUrl, dashboard } = config
  return redisUrl === undefined || dashboard.access === 'off' ? undefined : openRedisChannel(redisUrl, log)
}
