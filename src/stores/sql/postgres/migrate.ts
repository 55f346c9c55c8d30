import { Kysely, PostgresDialect } from 'kysely'
import type { Log } from '../../../core/ports.ts'
import { postgresError } from '../faults.ts'
import { migrate, migrations } from '../migrations.ts'
import type { Database } from '../schema.ts'
import { createPool } from './pool.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Where to migrate. */
export interface PostgresMigration {
  readonly url: string
  readonly log: Log
}

/** Brings the tables up to date, however long it takes, and returns the names of the steps it took. */
export async function migratePostgres({ url, log }: PostgresMigration, steps = migrations): Promise<string[]> {
  const pool = createPool({ url, log, connectTimeoutMs: CONNECT_TIMEOUT_MS, statementTimeoutMs: 0 })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await migrate(db, steps)
  } catch (error) {
    throw postgresError(error)
  } finally {
    await db.destroy()
  }
}
