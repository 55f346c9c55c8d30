import { type Kysely, sql } from 'kysely'
import { isPostgres } from './is-postgres.ts'

/** Makes the database itself refuse to change or delete a table's rows; for migrations. */
export async function makeAppendOnly(db: Kysely<unknown>, table: string): Promise<void> {
  const words = sql.lit(`${table} is append-only`)
  const name = (what: string) => sql.ref(`${table}_${what}`)
  if (isPostgres(db)) {
    await sql`create function ${name('refuse_change')}() returns trigger language plpgsql as
      'begin raise exception using message = tg_table_name || '' is append-only''; end'`.execute(db)
    await sql`create trigger ${name('unchanged')} before update or delete or truncate on ${sql.table(table)}
      for each statement execute function ${name('refuse_change')}()`.execute(db)
    return
  }
  for (const change of ['update', 'delete'])
    await sql`create trigger ${name(`no_${change}`)} before ${sql.raw(change)} on ${sql.table(table)}
      begin select raise(abort, ${words}); end`.execute(db)
}
