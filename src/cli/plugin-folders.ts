import { existsSync } from 'node:fs'
import path from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load.ts'
import { BUILT_IN_PLUGINS } from '../pipeline/install.ts'
import { findPluginFolders, type PluginFolder } from '../pipeline/load.ts'

/**
 * Returns the folders of all plugins, the built-in ones first. Never throws: commands that need the configuration do.
 */
export function pluginFolders(): PluginFolder[] {
  return [...builtInFolders(), ...configuredFolders()]
}

/** Returns the folders of the built-in plugins. */
export function builtInFolders(): PluginFolder[] {
  return findPluginFolders(BUILT_IN_PLUGINS)
}

/** Returns the folders of the operator's plugins. */
export function configuredFolders(): PluginFolder[] {
  return configuredDirectories().filter(existsSync).flatMap(findPluginFolders)
}

function configuredDirectories(): string[] {
  try {
    return loadConfig(process.env).config.plugins.dirs.map((directory) => path.resolve(directory))
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}
