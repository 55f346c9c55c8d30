import { randomBytes } from 'node:crypto'
import type { Migration } from 'kysely/migration'
import { makeAppendOnly } from '../engine/append-only.ts'
import { addCounts } from '../engine/columns.ts'

const ORIGIN_BYTES = 10

/** The table of receipts, each with a signature of its own. */
export const receipts: Migration = {
  async up(db) {
    await db.schema
      .createTable('receipt')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('json', 'text', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('receipt_by_scope').on('receipt').columns(['scope', 'created_at_ms', 'id']).execute()
  },
}

/** The ledger: its name, signed heads with their leaves, inner nodes. */
export const receiptLog: Migration = {
  async up(db) {
    await db.schema.alterTable('receipt').addColumn('leaf_index', 'bigint').execute()
    await addCounts(
      db.schema.createTable('receipt_log').addColumn('origin', 'text', (column) => column.primaryKey().notNull()),
      ['created_at_ms'],
    ).execute()
    await db.schema
      .createTable('receipt_head')
      .addColumn('first_leaf', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('checkpoint', 'text', (column) => column.notNull())
      .addColumn('leaves', 'text', (column) => column.notNull())
      .execute()
    await addCounts(db.schema.createTable('receipt_node'), ['level', 'node_index'])
      .addColumn('hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('receipt_node_key', ['level', 'node_index'])
      .execute()
    for (const table of ['receipt_log', 'receipt_head']) await makeAppendOnly(db, table)
    const origin = `turnpike/ledger/${randomBytes(ORIGIN_BYTES).toString('hex')}`
    // Safe: the table was created above; migrations have no types of tables.
    await (db as typeof db & { insertInto(table: string): ReturnType<typeof db.insertInto> })
      .insertInto('receipt_log')
      .values({ origin, created_at_ms: Date.now() })
      .execute()
  },
}
