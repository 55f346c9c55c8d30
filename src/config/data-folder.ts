import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/system/make-folder.ts'
import { ConfigError } from './config-error.ts'

/**
 * Creates the data folder if it is missing. Throws `ConfigError` with its path and the cause when it cannot be used.
 */
export function openDataFolder(dataDir: string): void {
  const folder = path.resolve(dataDir)
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new ConfigError(
      `\`data_dir\`: \`${folder}\` cannot be used: ${messageOf(cause)}. Set SVC_DATA_DIR to a folder that the gateway can write to.`,
      { cause },
    )
  }
}
