import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { sqliteFile, telemetryFile } from '../../src/stores/sql/sqlite/location.ts'

/** Database of a gateway: the ledger, or the table of requests and its sums. */
export type DatabaseName = 'ledger' | 'telemetry'

/** Long, since the machine may be busy. */
const PATIENCE_MS = 120_000

/** Opens an existing database in the data folder of a gateway, sends one statement to it, and closes it. */
export function querySqlite(dataDir: string, text: string, name: DatabaseName = 'ledger'): Record<string, unknown>[] {
  const file = pathToFileURL(name === 'ledger' ? sqliteFile(dataDir) : telemetryFile(dataDir))
  file.searchParams.set('mode', 'rw')
  const database = new DatabaseSync(file, { timeout: PATIENCE_MS })
  try {
    // Rows come without a prototype, which no plain object equals.
    return database
      .prepare(text)
      .all()
      .map((row) => ({ ...row }))
  } finally {
    database.close()
  }
}
