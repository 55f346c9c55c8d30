import { DatabaseSync } from 'node:sqlite'
import { sqliteFile } from '../../src/stores/sql/sqlite/location.ts'

/** Long, since the machine may be busy. */
const PATIENCE_MS = 120_000

/** Sends one statement to the database of a gateway, on a connection of its own. */
export function querySqlite(dataDir: string, text: string): Record<string, unknown>[] {
  const database = new DatabaseSync(sqliteFile(dataDir), { timeout: PATIENCE_MS })
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
