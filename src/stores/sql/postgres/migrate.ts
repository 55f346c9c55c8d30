import { Kysely, PostgresDialect } from 'kysely'
import type { Log } from '../../../core/ports/log.ts'
import { postgresError } from '../engine/faults.ts'
import { migrate, type TableSet, tableSets } from '../migrations.ts'
import type { Database } from '../schema.ts'
import { createPool } from './pool.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** The database to migrate. */
export interface PostgresMigration {
  readonly url: string
  readonly log: Log
}

/** Migrates the tables, without a time limit, and returns the names of the applied migrations. */
export async function migratePostgres(
  { url, log }: PostgresMigration,
  sets: readonly TableSet[] = Object.values(tableSets),
): Promise<string[]> {
  const pool = createPool({ url, log, max: 2, connectTimeoutMs: CONNECT_TIMEOUT_MS, statementTimeoutMs: 0 })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  try {
    const taken: string[] = []
    for (const set of sets) taken.push(...(await migrate(db, set)))
    return taken
  } catch (error) {
    throw postgresError(error)
  } finally {
    await db.destroy()
  }
}
