import type { Server } from 'node:http'
import path from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { pluginOptions } from '../config/load.ts'
import { placesOf } from '../config/places.ts'
import type { Config } from '../config/schema.ts'
import type { SettingsInForce } from '../config/settings-in-force.ts'
import { Disposal } from '../core/disposal.ts'
import { GatewayError } from '../core/errors.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { RequestObserver } from '../core/ports/request-record.ts'
import { createMessagesDialect } from '../dialects/messages/dialect.ts'
import { type OwnRequestParts, OwnRequests } from '../http/internal-requests.ts'
import { Readiness } from '../http/readiness.ts'
import {
  BUILT_IN_PLUGINS,
  type InstallOptions,
  installPlugins,
  PluginReloader,
  requiredPlugins,
} from '../pipeline/install.ts'
import { Pipelines } from '../pipeline/pipelines.ts'
import { PluginRegistry } from '../pipeline/registry.ts'
import { watchPlugins } from '../pipeline/watch.ts'
import { usageCheckOf } from '../providers/believed-usage.ts'
import { createProviders, type Providers } from '../providers/providers.ts'
import { openChannel } from '../stores/channels/open.ts'
import { createByteStores } from '../stores/kv/stores.ts'
import { assertModeComplete, openIdentity } from './accounts.ts'
import { openTolling } from './agent-payments.ts'
import { openPaying } from './billing.ts'
import { openDashboard, openIntake } from './dashboard.ts'
import { openLimits } from './limits.ts'
import { createServer } from './server.ts'
import { type Accounting, openAccounting } from './spend.ts'
import { openRecording } from './telemetry.ts'

/** What a part may take to close beside what it may drain for. */
const CLOSE_ROOM_MS = 10_000

/** What the composition root is given from outside. */
export interface AppOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
  readonly startedAtMs: number
  readonly observers: readonly RequestObserver[]
  /** The configuration in force, for the dashboard. */
  readonly settings: () => SettingsInForce
}

/** A gateway that is put together but does not listen yet. */
export interface App {
  readonly server: Server
  readonly pipelines: Pipelines
  readonly registry: PluginRegistry
  readonly providers: Providers
  /** From now on it asks to be sent nothing more; what comes all the same is served. */
  endReadiness(): void
  /** Ends what has no end of its own, and would hold up the server's. */
  endFeeds(): void
  /** Closes plugins, provider connections and stores; the server is drained before. */
  close(): Promise<void>
}

/**
 * Puts the gateway together: the only place that knows every layer.
 * Throws `ConfigError` for a mode that lacks what it needs, `PluginError` when a plugin that the operator's pipeline names cannot be used;
 * what was opened until then is closed.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log } = options
  assertModeComplete(config)
  const disposal = new Disposal({ log, partTimeoutMs: config.server.drain_timeout + CLOSE_ROOM_MS })
  try {
    return await putTogether(options, disposal)
  } catch (error) {
    await disposal.close()
    throw error
  }
}

async function putTogether(options: AppOptions, disposal: Disposal): Promise<App> {
  const { config, log, clock } = options
  const stores = disposal.use('stores', await createByteStores({ redisUrl: config.redis_url, log }))
  const accounting = await openAccounting({ ...options, disposal })
  const { store, prices } = accounting
  // Only the dashboard has something to say to other processes.
  const isAlone = config.dashboard.access === 'off'
  const channel = isAlone ? undefined : disposal.use('channel', await openChannel({ redisUrl: config.redis_url, log }))
  const intake = openIntake({ ...options, stores, channel })
  const recording = await openRecording({ ...options, accounting, feed: intake.feed, disposal })
  const providers = disposal.use('providers', await openProviders(options, accounting))
  const limits = await openLimits(options)
  disposal.add('limits', () => Promise.all([limits.requests?.close(), limits.failures?.close()]))
  const registry = disposal.use('plugins', new PluginRegistry())
  const own = new OwnRequests()
  const install: InstallOptions = {
    registry,
    directories: [BUILT_IN_PLUGINS, ...config.plugins.dirs.map((directory) => path.resolve(directory))],
    configured: pluginOptions(config),
    services: (plugin) => ({
      log: log.child({ plugin }),
      clock,
      stores,
      ...placesOf(plugin, config),
      ...accounting,
      models: own.forPlugin(plugin),
    }),
    setupTimeoutMs: config.plugins.setup_timeout,
    required: requiredPlugins(config.pipeline),
    log,
  }
  await installPlugins(install)
  disposal.add('plugin watcher', startWatching(config, install))
  const pipelines = createPipelines(config, { registry, providers, tokens: accounting.tokens, log })
  pipelines.for(undefined)
  openOwn(own, options, { pipelines, providers, prices })
  const identity = await openIdentity({
    ...options,
    store,
    limits,
    disposal,
    assertPipeline: (text) => void pipelines.for(undefined, text),
  })
  const tolling = disposal.use('tolling', await openTolling({ config, accounting, stores, clock, log }))
  const shared = { pipelines, registry, limits, identity, tolling }
  const dashboard = openDashboard({ ...options, ...recording, ...shared, intake, store })
  const paying =
    identity.accounts &&
    openPaying({ ...options, store, session: identity.accounts.session, onIntent: tolling?.reconcile })
  disposal.use('billing', paying?.billing)
  const readiness = new Readiness(() => store.isInPlace())
  const server = createServer(options, {
    ...shared,
    providers,
    recording,
    paying,
    fees: accounting.fees,
    capture: intake.capture,
    dashboard,
    readiness,
  })
  recording.startRetention()
  return {
    server,
    pipelines,
    registry,
    providers,
    endReadiness: () => readiness.end(server),
    endFeeds: () => intake.live.close(),
    close: () => disposal.close(),
  }
}

function startWatching(config: Config, install: InstallOptions): () => void {
  if (!(config.plugins.watch ?? config.mode === 'local')) return () => {}
  const reloader = new PluginReloader(install)
  return watchPlugins(install.directories, (folder, isSettled) => reloader.reload(folder, isSettled), install.log)
}

interface Parts {
  registry: PluginRegistry
  providers: Providers
  tokens: Accounting['tokens']
  log: Log
}

function createPipelines({ pipeline }: Config, { registry, providers, tokens, log }: Parts): Pipelines {
  return new Pipelines({
    registry,
    rails: pipeline,
    stepTimeoutMs: pipeline.step_timeout,
    log,
    innermost: async (ctx) => {
      const { exchange } = ctx.state
      // Unless a guard has held it along with its money: nobody is asked for a caller whose plan has no call left.
      await exchange.fee?.hold()
      exchange.fee?.markAsked()
      exchange.markAsked()
      const reply = await providers.complete(exchange)
      reply.checkUsage(usageCheckOf(exchange, tokens))
      exchange.reply = reply
    },
  })
}

/** Throws `ConfigError` when the configuration names a provider that is not there. */
async function openProviders({ config, log, random }: AppOptions, { tokens }: Accounting): Promise<Providers> {
  try {
    return await createProviders(config, { log, tokens, random, nowMs: () => performance.now() })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new ConfigError(`\`providers\` or \`models\`: ${error.message}`, { cause: error })
  }
}

interface OwnParts extends Pick<App, 'pipelines' | 'providers'> {
  prices: Accounting['prices']
}

/** From now on plugins can ask models. */
function openOwn(own: OwnRequests, { clock }: AppOptions, { pipelines, providers, prices }: OwnParts): void {
  // The price book counts the calls inside a call, such as an advisor's.
  const costOf: OwnRequestParts['costOf'] = (target, usage, atMs) => prices.price(target, usage, atMs).costNanoUsd
  const targetsOf = (model: string) => providers.targetsOf(model)
  own.open({ pipelines, dialect: createMessagesDialect(), targetsOf, costOf, clock })
}
