import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { sqliteFile, telemetryFile } from '../../src/stores/sql/sqlite/location.ts'

/** Long, since the machine may be busy. */
const PATIENCE_MS = 120_000

/** Sends one statement to a database in the data folder of a gateway, on a connection of its own. It must exist. */
export function querySqlite(
  dataDir: string,
  text: string,
  name: 'ledger' | 'telemetry' = 'ledger',
): Record<string, unknown>[] {
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
