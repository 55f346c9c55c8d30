import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addTexts } from '../engine/columns.ts'

/** Creates the tables of settings that are changed in the dashboard. */
export const settings: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('setting_version')
      .addColumn('id', 'bigint', (column) => column.primaryKey().notNull().check(sql`id = 1`))
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .execute()
    await sql`insert into setting_version (id, seq) values (1, 0)`.execute(db)
    const changes = db.schema
      .createTable('setting_change')
      .addColumn('seq', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
    await addTexts(changes, ['actor', 'name']).addColumn('value', 'text').addColumn('previous', 'text').execute()
    await db.schema.createIndex('setting_change_by_name').on('setting_change').columns(['name', 'seq']).execute()
    await db.schema
      .createTable('provider_key')
      .addColumn('provider', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute()
  },
}
