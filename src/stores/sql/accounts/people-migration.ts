import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const KEY_TEXTS = ['team_id', 'tags', 'previous_hash', 'created_by', 'limits_by'] as const
const KEY_MOMENTS = ['suspended_at_ms', 'expires_at_ms', 'previous_until_ms'] as const

/** Names and roles of people, teams, tags, and keys that expire, rotate and are suspended. */
export const people: Migration = {
  async up(db) {
    const account = () => db.schema.alterTable('account')
    for (const name of ['name', 'email', 'limits']) await account().addColumn(name, 'text').execute()
    await account()
      .addColumn('role', 'text', (column) =>
        column.notNull().defaultTo('member').check(sql`role in ('viewer', 'member', 'operator')`),
      )
      .execute()
    await account().addColumn('last_seen_at_ms', 'bigint').execute()

    await db.schema
      .createTable('team')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('folded_name', 'text', (column) => column.notNull().unique())
      .addColumn('limits', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('archived_at_ms', 'bigint')
      .execute()
    await db.schema
      .createTable('team_member')
      .addColumn('team_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull().check(sql`role in ('lead', 'member')`))
      .addColumn('source', 'text', (column) => column.notNull().check(sql`source in ('set', 'groups')`))
      .addPrimaryKeyConstraint('team_member_key', ['team_id', 'account_id'])
      .execute()
    await db.schema.createIndex('team_member_by_account').on('team_member').column('account_id').execute()
    await db.schema
      .createTable('tag')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('limits', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()

    for (const name of KEY_TEXTS) await db.schema.alterTable('api_key').addColumn(name, 'text').execute()
    for (const name of KEY_MOMENTS) await db.schema.alterTable('api_key').addColumn(name, 'bigint').execute()
    await db.schema.createIndex('api_key_by_previous').unique().on('api_key').column('previous_hash').execute()
    await db.schema.createIndex('api_key_by_team').on('api_key').column('team_id').execute()
    await db.schema.createIndex('api_key_by_creation').on('api_key').columns(['created_at_ms', 'id']).execute()
  },
}
