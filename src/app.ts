import type { Server } from 'node:http'
import path from 'node:path'
import { ConfigError, pluginOptions } from './config/load.ts'
import type { Config } from './config/schema.ts'
import type { Clock, Log, Provider, RequestObserver } from './core/ports.ts'
import { createMessagesParser } from './dialects/messages/parse.ts'
import { createHttpApp } from './http/app.ts'
import { type Authenticate, createLocalAuthenticate } from './http/authenticate.ts'
import { createHttpServer } from './http/server.ts'
import {
  BUILT_IN_PLUGINS,
  type InstallOptions,
  installPlugins,
  PluginReloader,
  requiredPlugins,
} from './pipeline/install.ts'
import { Pipelines } from './pipeline/pipelines.ts'
import { PluginRegistry } from './pipeline/registry.ts'
import { watchPlugins } from './pipeline/watch.ts'
import { createProviders, type Providers } from './providers/providers.ts'
import { createByteStores } from './stores/kv/stores.ts'

/** What the composition root is given from outside. */
export interface AppOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
  readonly startedAtMs: number
  readonly observers: readonly RequestObserver[]
}

/** A gateway that is put together but does not listen yet. */
export interface App {
  readonly server: Server
  readonly pipelines: Pipelines
  readonly registry: PluginRegistry
  readonly providers: Providers
  /** Closes plugins, provider connections and stores; the server is drained before. */
  close(): Promise<void>
}

/**
 * Puts the gateway together: the only place that knows every layer.
 * Throws `ConfigError` for a mode that does not exist yet, `PluginError` when a plugin that the operator's pipeline names cannot be used.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, clock } = options
  const stores = await createByteStores({ redisUrl: config.redis_url, log, clock })
  const providers = createProviders(config, options)
  const registry = new PluginRegistry()
  const install: InstallOptions = {
    registry,
    directories: [BUILT_IN_PLUGINS, ...config.plugins.dirs.map((directory) => path.resolve(directory))],
    configured: pluginOptions(config),
    services: (plugin) => ({ log: log.child({ plugin }), clock, stores }),
    setupTimeoutMs: config.plugins.setup_timeout,
    required: requiredPlugins(config.pipeline),
    log,
  }
  await installPlugins(install)
  const stopWatching = startWatching(config, install)
  const pipelines = createPipelines(config, { registry, providers, log })
  pipelines.for(undefined)
  return {
    server: createServer(options, { pipelines, providers }),
    pipelines,
    registry,
    providers,
    async close() {
      stopWatching()
      await registry.close()
      await providers.close()
      await stores.close()
    },
  }
}

function startWatching(config: Config, install: InstallOptions): () => void {
  if (!(config.plugins.watch ?? config.mode === 'local')) return () => {}
  const reloader = new PluginReloader(install)
  return watchPlugins(install.directories, (folder) => reloader.reload(folder), install.log)
}

interface Parts {
  registry: PluginRegistry
  providers: Providers
  log: Log
}

function createPipelines({ pipeline }: Config, { registry, providers, log }: Parts): Pipelines {
  return new Pipelines({
    registry,
    rails: pipeline,
    stepTimeoutMs: pipeline.step_timeout,
    log,
    innermost: async (ctx) => {
      const { exchange } = ctx.state
      exchange.reply = await providers.get(exchange.target.provider).complete(exchange)
    },
  })
}

/** Without accounts, cloud mode would let everybody in at the operator's expense. */
function authenticateFor({ mode }: Config): Authenticate {
  if (mode === 'local') return createLocalAuthenticate()
  throw new ConfigError('`mode`: `cloud` needs accounts, which this version does not have yet. Use `local`.')
}

function createServer(
  { config, observers, startedAtMs }: AppOptions,
  { pipelines, providers }: Pick<App, 'pipelines' | 'providers'>,
): Server {
  const authenticate = authenticateFor(config)
  const shared = {
    authenticate,
    selectTarget: (model: string) => providers.select(model),
    bodyLimitBytes: config.server.body_limit,
    send: { pingIntervalMs: config.server.ping_interval },
  }
  const app = createHttpApp({
    messages: { ...shared, route: 'messages', parse: createMessagesParser(), pipelines },
    relay: {
      ...shared,
      provider: (name: string): Provider => providers.get(name),
      listingProvider: (credential) => providers.listing(credential),
      defaultProvider: providers.fallback,
    },
    health: { build: config.build, startedAtMs, providers: providers.all },
    corsOrigins: config.server.cors_origins,
    allowedRoutes: config.providers.allow_routes,
    observe: (record) => {
      for (const observer of observers) observer(record)
    },
  })
  return createHttpServer(app.callback(), config.server)
}
