import type { Log } from '../../../core/ports/log.ts'
import { sqliteFile, telemetryFile } from '../sqlite/location.ts'
import { sqliteFault, toError } from './faults.ts'

/** The database to migrate. */
export interface MigrationOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: Log
}

/** Migrates the tables without opening the database for use; returns the names of the applied migrations. */
export async function migrateDatabase({ databaseUrl, dataDir, log }: MigrationOptions): Promise<readonly string[]> {
  if (databaseUrl !== undefined) {
    const { migratePostgres } = await import('../postgres/migrate.ts')
    return migratePostgres({ url: databaseUrl, log })
  }
  const { openDatabase } = await import('../sqlite/open.ts')
  try {
    const accounts = await openDatabase(sqliteFile(dataDir), 'accounts')
    await accounts.db.destroy()
    const telemetry = await openDatabase(telemetryFile(dataDir), 'telemetry')
    await telemetry.db.destroy()
    return [...accounts.migrated, ...telemetry.migrated]
  } catch (error) {
    throw toError(sqliteFault(error))
  }
}
