import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError, messageOf } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import type { Log } from '../core/ports/log.ts'
import type { PluginServices } from '../plugin/contract.ts'
import { nextVersion } from './hooks.ts'
import { ENTRY_FILES, findPluginFolders, loadPlugin, PluginError, type PluginFolder, pluginFolderAt } from './load.ts'
import { parsePipeline, type Step } from './parse.ts'
import type { PluginRegistry } from './registry.ts'

/** Inputs of the installation of plugins. */
export interface InstallOptions {
  readonly registry: PluginRegistry
  /** Directories of plugin folders; a name found in an earlier one wins. */
  readonly directories: readonly string[]
  /** Options by plugin name, from the configuration. */
  readonly configured: ReadonlyMap<string, Record<string, unknown>>
  readonly services: (pluginName: string) => PluginServices
  readonly setupTimeoutMs: number
  readonly runLater?: (() => void) | undefined
  /** Plugins of the operator's own pipeline and locks: the gateway does not start without them. */
  readonly required: ReadonlySet<string>
  readonly log: Log
}

/** Longest delay between a change of a file and the watcher's event. */
const HEARD_WITHIN_MS = 100

/** The built-in plugins. */
export const BUILT_IN_PLUGINS = path.join(import.meta.dirname, '../../plugins')

/**
 * Installs every plugin found. A broken one is reported by name and left out, unless the operator's own pipeline needs
 * it or its options are invalid: then it throws `PluginError`, and closes the plugins that are set up already.
 */
export async function installPlugins(options: InstallOptions): Promise<void> {
  try {
    const folders = foldersOf(options)
    for (const found of folders) await installOne(found, options)
    assertAllKnown(new Set(folders.map(({ name }) => name)), options)
  } catch (error) {
    await options.registry.close()
    throw error
  }
}

/** Loads one folder again after it changed: a good version replaces the old one, a bad one is reported and ignored. */
export class PluginReloader {
  readonly #options: InstallOptions
  /** The newest requested version, by folder: a slow set-up must not replace its successor. */
  readonly #newest = new Map<string, number>()

  constructor(options: InstallOptions) {
    this.#options = options
  }

  /** Reloads a folder. `isSettled` returns false once something has changed again; an incomplete version is never used. */
  async reload(folder: string, isSettled: () => boolean = () => true): Promise<void> {
    const { registry, log } = this.#options
    const name = path.basename(folder)
    const current = registry.get(name)
    if (current !== undefined && current.folder !== folder) return
    const version = nextVersion()
    this.#newest.set(folder, version)
    if (!existsSync(folder)) return this.#remove(name)
    const found = pluginFolderAt(folder)
    if (found === undefined && current === undefined) return registry.remove(name)
    try {
      if (found === undefined) throw new PluginError(`plugin \`${name}\` has no entry file: ${ENTRY_FILES.join(', ')}`)
      const plugin = await loadPlugin(found, { ...loadOptionsFor(found, this.#options), version })
      if (this.#newest.get(folder) !== version || !isSettled()) return await plugin.close()
      registry.put(plugin)
      log.info({ plugin: name }, current === undefined ? 'plugin.installed' : 'plugin.reloaded')
    } catch (error) {
      // A file that is being saved may have been read in part: the next event loads the complete one.
      await sleep(HEARD_WITHIN_MS)
      if (this.#newest.get(folder) !== version || !isSettled()) return
      const isKept = current !== undefined
      registry.noteBroken({ name, folder, reason: messageOf(error), isKept })
      log.error({ plugin: name, reason: messageOf(error), kept: isKept }, 'plugin.broken')
    }
  }

  /** Removes a plugin whose folder is gone, unless the pipeline needs it. */
  #remove(name: string): void {
    const { registry, log, required } = this.#options
    const isKnown = registry.get(name) !== undefined
    if (isKnown && required.has(name)) {
      log.warn({ plugin: name, reason: 'the pipeline needs it' }, 'plugin.kept')
      return
    }
    registry.remove(name)
    if (isKnown) log.info({ plugin: name }, 'plugin.removed')
  }
}

function foldersOf({ directories, log }: InstallOptions): PluginFolder[] {
  const byName = new Map<string, PluginFolder>()
  for (const directory of directories) {
    if (!existsSync(directory))
      throw new PluginError(`plugin directory \`${directory}\` does not exist`, { isConfiguration: true })
    for (const found of findPluginFolders(directory)) {
      const earlier = byName.get(found.name)
      if (earlier === undefined) byName.set(found.name, found)
      else log.warn({ plugin: found.name, ignored: found.folder, used: earlier.folder }, 'plugin.duplicate')
    }
  }
  return [...byName.values()]
}

async function installOne(found: PluginFolder, options: InstallOptions): Promise<void> {
  // An operator's folder may have changed since another gateway of this process imported it.
  const version = path.dirname(found.folder) === BUILT_IN_PLUGINS ? 0 : nextVersion()
  try {
    options.registry.put(await loadPlugin(found, { ...loadOptionsFor(found, options), version }))
  } catch (error) {
    const isFatal = options.required.has(found.name) || (error instanceof PluginError && error.isConfiguration)
    if (isFatal) throw error
    options.registry.noteBroken({ ...found, reason: messageOf(error), isKept: false })
    options.log.error({ plugin: found.name, folder: found.folder, reason: messageOf(error) }, 'plugin.broken')
  }
}

function loadOptionsFor(found: PluginFolder, { configured, services, setupTimeoutMs, runLater }: InstallOptions) {
  return { configured: configured.get(found.name) ?? {}, services, setupTimeoutMs, runLater }
}

/** Refuses options of an unknown plugin, which would be ignored silently, and unknown names in the pipeline, which would fail every request. */
function assertAllKnown(found: ReadonlySet<string>, { registry, configured, required }: InstallOptions): void {
  for (const name of configured.keys()) {
    if (!found.has(name)) {
      throw new PluginError(
        `the configuration has options for \`${name}\`, but no such plugin is installed.${suggest(name, registry.names)}`,
        { isConfiguration: true },
      )
    }
  }
  for (const name of required) {
    if (!found.has(name)) {
      throw new PluginError(
        `the pipeline names \`${name}\`, but no such plugin is installed.${suggest(name, registry.names)}`,
        { isConfiguration: true },
      )
    }
  }
}

/** Returns the plugins that the operator's own pipeline and locks name. Throws `PluginError` when the pipeline is invalid. */
export function requiredPlugins({
  default: text,
  locked,
}: {
  default: string
  locked: readonly string[]
}): Set<string> {
  return new Set([...ownSteps(text).map(({ name }) => name), ...locked])
}

function ownSteps(text: string): Step[] {
  try {
    return parsePipeline(text)
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause
    throw new PluginError(`\`pipeline.default\` cannot run: ${cause.message}`, { isConfiguration: true, cause })
  }
}
