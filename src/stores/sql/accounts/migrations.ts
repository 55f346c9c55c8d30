import { type CreateTableBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { makeAppendOnly } from '../engine/append-only.ts'
import { LARGEST } from '../engine/columns.ts'

/** The tables of accounts, keys and the audit log. */
export const accounts: Migration = {
  async up(db) {
    let account: CreateTableBuilder<string, string> = db.schema
      .createTable('account')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('tier', 'text', (column) =>
        column.notNull().defaultTo('free').check(sql`tier in ('free', 'pro', 'team')`),
      )
    for (const name of ['posted_credits', 'held_credits', 'entry_seq'])
      account = account.addColumn(name, 'bigint', (column) =>
        column
          .notNull()
          .defaultTo(0)
          .check(sql`${sql.ref(name)} between 0 and ${LARGEST}`),
      )
    await account
      .addColumn('period_start_ms', 'bigint')
      .addColumn('period_end_ms', 'bigint')
      .addColumn('suspended_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addCheckConstraint('account_held_is_posted', sql`held_credits <= posted_credits`)
      .execute()

    await db.schema
      .createTable('api_key')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('prefix', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('pipeline_config', 'text')
      .addColumn('limits', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at_ms', 'bigint')
      .addColumn('revoked_at_ms', 'bigint')
      .execute()
    await db.schema
      .createIndex('api_key_by_account')
      .on('api_key')
      .columns(['account_id', 'created_at_ms', 'id'])
      .execute()

    await db.schema
      .createTable('audit_entry')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('audit_by_time').on('audit_entry').columns(['at_ms', 'id']).execute()
    await db.schema.createIndex('audit_by_account').on('audit_entry').columns(['account_id', 'at_ms', 'id']).execute()
    await makeAppendOnly(db, 'audit_entry')
  },
}
