import { ConfigError } from '../config/config-error.ts'
import { openDataFolder } from '../config/data-folder.ts'
import type { Config } from '../config/schema.ts'
import { GatewayError, messageWithCause } from '../core/errors.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import { hostOf } from '../core/system/host-of.ts'
import { sqliteFile } from '../stores/sql/sqlite/location.ts'
import { openSqlStore, type SqlStore } from '../stores/sql/store.ts'

/** Input of `openDatabase`. */
export interface DatabaseOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
}

/**
 * Opens the database of accounts and money. Throws `ConfigError` when it cannot be opened: the gateway does not start.
 */
export async function openDatabase(options: DatabaseOptions): Promise<SqlStore> {
  const { config, log, clock } = options
  openDataFolder(config.data_dir)
  try {
    const { database_url: databaseUrl, data_dir: dataDir, database_timeout: patienceMs } = config
    return await openSqlStore({ databaseUrl, dataDir, log, clock, patienceMs })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new ConfigError(`${optionOf(config)}: ${messageWithCause(error)}`, { cause: error })
  }
}

/** Returns the option that sets the database, with its location without credentials. */
function optionOf({ database_url: url, data_dir: dataDir }: Config): string {
  return url === undefined ? `\`data_dir\` (${sqliteFile(dataDir)})` : `\`database_url\` (${hostOf(url)})`
}
