import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addTexts, type Table } from '../engine/columns.ts'

function addMoments(table: Table, names: readonly string[]): Table {
  return names.reduce((table, name) => table.addColumn(name, 'bigint', (column) => column.notNull()), table)
}

/** Sign-ins, sessions of the gateway's own, and requests of command lines. */
export const sessions: Migration = {
  async up(db) {
    const create = (name: string, key: string): Table =>
      db.schema.createTable(name).addColumn(key, 'text', (column) => column.primaryKey().notNull())

    const attempt = addTexts(create('sign_in_attempt', 'state_hash'), ['browser_hash', 'nonce', 'verifier'])
    await addMoments(addTexts(attempt, ['return_path']), ['expires_at_ms']).execute()

    await addMoments(addTexts(create('sign_in_identity', 'account_id'), ['issuer']), ['signed_in_at_ms'])
      .addColumn('role', 'text', (column) => column.check(sql`role in ('viewer', 'operator')`))
      .execute()

    const session = addTexts(create('user_session', 'id'), ['account_id', 'client'])
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('browser', 'command')`))
      .addColumn('id_token', 'text')
      .addColumn('key_id', 'text')
      .addColumn('revoked_at_ms', 'bigint')
    await addMoments(session, ['created_at_ms', 'last_seen_at_ms', 'idle_ms', 'expires_at_ms']).execute()
    const ofAccount = ['account_id', 'created_at_ms']
    await db.schema.createIndex('user_session_by_account').on('user_session').columns(ofAccount).execute()

    const device = addTexts(create('device_grant', 'device_hash'), ['client', 'address'])
      .addColumn('user_hash', 'text', (column) => column.notNull().unique())
      .addColumn('state', 'text', (column) => column.notNull().check(sql`state in ('pending', 'approved', 'denied')`))
      .addColumn('account_id', 'text')
    await addMoments(device, ['created_at_ms', 'polled_at_ms', 'expires_at_ms']).execute()

    const link = create('operator_link', 'hash').addColumn('browser_hash', 'text')
    await addMoments(link, ['expires_at_ms']).execute()

    for (const name of ['sign_in_attempt', 'user_session', 'device_grant'])
      await db.schema.createIndex(`${name}_by_end`).on(name).column('expires_at_ms').execute()
  },
}
