import path from 'node:path'
import { loadConfig, pluginOptions } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Log } from '../core/ports/log.ts'
import { derivedKey } from '../core/system/derived-key.ts'
import { BUILT_IN_PLUGINS, type InstallOptions, installPlugins } from '../pipeline/install.ts'
import { PluginRegistry } from '../pipeline/registry.ts'
import { createByteStores } from '../stores/kv/stores.ts'

const print = (fields: object, event: string): void => void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`)

/** Log for commands: prints warnings and errors to standard error, drops the rest. */
export const commandLog: Log = { debug() {}, info() {}, warn: print, error: print, child: () => commandLog }

const unused = () => {
  throw new Error('commands do not run requests')
}

/** Ports for plugins that are set up and never run: nothing is spent, and no database is needed. */
const NO_MONEY = {
  caps: unused,
  prices: { price: unused, rates: unused },
  tokens: { inputTokens: unused },
  spend: { reserve: unused, grow: unused, settle: unused, spent: unused },
  models: { ask: unused },
  later: unused,
  deriveKey: (purpose: string) => derivedKey(undefined, purpose),
}

/** Folder that cannot be written: an attempt fails. */
const NOWHERE = { folder: '/dev/null/nowhere', engines: { redisUrl: undefined, databaseUrl: undefined } }

/** Plugins of the effective configuration, set up without a server. */
export interface OfflinePlugins {
  readonly config: Config
  readonly registry: PluginRegistry
  readonly install: InstallOptions
  close(): Promise<void>
}

/** Sets up all plugins for a command. None is required: a broken plugin is logged and skipped. */
export async function loadOffline(): Promise<OfflinePlugins> {
  const { config } = loadConfig(process.env)
  const registry = new PluginRegistry()
  const clock = { nowMs: () => Date.now() }
  const stores = await createByteStores({ redisUrl: undefined, log: commandLog })
  const install: InstallOptions = {
    registry,
    directories: [BUILT_IN_PLUGINS, ...config.plugins.dirs.map((directory) => path.resolve(directory))],
    configured: pluginOptions(config),
    services: () => ({ log: commandLog, clock, stores, ...NOWHERE, ...NO_MONEY }),
    setupTimeoutMs: config.plugins.setup_timeout,
    required: new Set(),
    log: commandLog,
  }
  await installPlugins(install)
  return { config, registry, install, close: () => registry.close() }
}
