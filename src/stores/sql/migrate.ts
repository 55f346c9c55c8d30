import type { Log } from '../../core/ports.ts'
import { sqliteFault, toError } from './faults.ts'
import { sqliteFile } from './sqlite/location.ts'

/** Which database to migrate. */
export interface MigrationOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: Log
}

/** Brings the tables up to date without opening the database for use; returns the names of the steps it took. */
export async function migrateDatabase({ databaseUrl, dataDir, log }: MigrationOptions): Promise<readonly string[]> {
  if (databaseUrl !== undefined) {
    const { migratePostgres } = await import('./postgres/migrate.ts')
    return migratePostgres({ url: databaseUrl, log })
  }
  const { openDatabase } = await import('./sqlite/open.ts')
  try {
    const { db, migrated } = await openDatabase(sqliteFile(dataDir))
    await db.destroy()
    return migrated
  } catch (error) {
    throw toError(sqliteFault(error))
  }
}
