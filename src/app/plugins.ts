import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pluginOptions } from '../config/load.ts'
import { placesOf } from '../config/places.ts'
import type { Config } from '../config/schema.ts'
import type { ByteStores } from '../core/ports/byte-store.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { derivedKey } from '../core/system/derived-key.ts'
import type { InternalRequests } from '../http/internal-requests.ts'
import type { Journal } from '../journal/journal.ts'
import {
  BUILT_IN_PLUGINS,
  type InstallOptions,
  installPlugins,
  PluginReloader,
  requiredPlugins,
} from '../pipeline/install.ts'
import { PluginRegistry } from '../pipeline/registry.ts'
import { watchPlugins } from '../pipeline/watch.ts'
import type { PluginServices } from '../plugin/contract.ts'
import { type Opened, openParts } from './open-parts.ts'
import type { Spend } from './spend.ts'

/** Input of `openPlugins`. */
export interface PluginsOptions {
  readonly config: Config
  readonly stores: ByteStores
  readonly spend: Spend
  /** Models that plugins may call, once it is open. */
  readonly internal: InternalRequests
  /** The private key of receipts, from which plugins' keys are derived. */
  readonly signingKey: KeyObject
  /** Runs what follows replies. */
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
}

/**
 * Installs the plugins, and watches their folders if configured. Throws `PluginError` when one that the
 * operator's pipeline names cannot be used.
 */
export function openPlugins(options: PluginsOptions): Promise<Opened<{ registry: PluginRegistry }>> {
  const { config, journal, log } = options
  return openParts(options, async (disposal) => {
    const registry = disposal.use('plugins', new PluginRegistry())
    const install: InstallOptions = {
      registry,
      directories: [BUILT_IN_PLUGINS, ...config.plugins.dirs.map((directory) => path.resolve(directory))],
      configured: pluginOptions(config),
      services: (plugin) => servicesOf(plugin, options),
      setupTimeoutMs: config.plugins.setup_timeout,
      runLater: () => journal.flush(),
      required: requiredPlugins(config.pipeline),
      log,
    }
    await installPlugins(install)
    disposal.add('plugin watcher', startWatching(config, install))
    return { registry }
  })
}

function servicesOf(
  plugin: string,
  { config, stores, spend, internal, journal, signingKey, clock, log }: PluginsOptions,
): PluginServices {
  const { ledger, capsOf, prices, tokens } = spend
  return {
    log: log.child({ plugin }),
    clock,
    stores,
    ...placesOf(plugin, config),
    spend: ledger,
    caps: capsOf,
    prices,
    tokens,
    models: internal.forPlugin(plugin),
    later: (work, bytes) => journal.add(work, bytes),
    deriveKey: (purpose) => derivedKey(signingKey, `plugin ${plugin}: ${purpose}`),
  }
}

function startWatching({ plugins, mode }: Config, install: InstallOptions): () => void {
  if (!(plugins.watch ?? mode === 'local')) return () => {}
  const reloader = new PluginReloader(install)
  return watchPlugins(watchedOf(install), (folder, isSettled) => reloader.reload(folder, isSettled), install.log)
}

/** Returns the directories whose plugins may change: the built-in ones only in a checkout. */
function watchedOf({ directories }: InstallOptions): readonly string[] {
  const isCheckout = existsSync(new URL('../../src', import.meta.url))
  return directories.filter((directory) => isCheckout || directory !== BUILT_IN_PLUGINS)
}
