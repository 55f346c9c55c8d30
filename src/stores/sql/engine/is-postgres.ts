import { type Kysely, PostgresAdapter } from 'kysely'

/** Tests for a connection to PostgreSQL. */
export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
