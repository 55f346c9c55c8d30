import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { migrate, type migrations, type TableSet } from '../../../src/stores/sql/migrations.ts'
import { migratePostgres } from '../../../src/stores/sql/postgres/migrate.ts'
import type { Database } from '../../../src/stores/sql/schema.ts'
import { createSqliteDialect } from '../../../src/stores/sql/sqlite/dialect.ts'
import { sqliteFile } from '../../../src/stores/sql/sqlite/location.ts'
import type { Place } from './places.ts'

/** Steps of migrations. */
export type Steps = typeof migrations

/** Runs these steps instead of the real ones. */
export async function migrateWith({ databaseUrl, dataDir, log }: Place, steps: Steps): Promise<string[]> {
  const set: TableSet = { steps, memory: {} }
  if (databaseUrl !== undefined) return migratePostgres({ url: databaseUrl, log }, [set])
  const db = new Kysely<Database>({ dialect: createSqliteDialect(new DatabaseSync(sqliteFile(dataDir))) })
  try {
    return await migrate(db, set)
  } finally {
    await db.destroy()
  }
}
