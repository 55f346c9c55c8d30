import { type CreateTableBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Creates the tables of payments. The database itself refuses rows whose money is missing or counted twice. */
export const payments: Migration = {
  async up(db) {
    await db.schema
      .createTable('payment_window')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('opened_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('payment_window_by_time').on('payment_window').column('opened_at_ms').execute()

    let payment: CreateTableBuilder<string, string> = db.schema
      .createTable('payment')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('state', 'text', (column) =>
        column.notNull().check(sql`state in ('claimed', 'authorized', 'captured', 'consumed', 'failed', 'expired')`),
      )
      .addColumn('amount_cents', 'bigint', (column) => column.notNull().check(sql`amount_cents > 0`))
      .addColumn('settlement', 'text', (column) => column.notNull().check(sql`settlement in ('manual', 'automatic')`))
    for (const name of ['token_hash', 'currency', 'route', 'model', 'owner'])
      payment = payment.addColumn(name, 'text', (column) => column.notNull())
    await payment
      .addColumn('reference', 'text', (column) => column.unique())
      .addColumn('fence', 'bigint', (column) => column.notNull())
      .addColumn('lease_until_ms', 'bigint', (column) => column.notNull())
      .addColumn('due_at_ms', 'bigint')
      .addColumn('captured_at_ms', 'bigint')
      .addColumn('ended_at_ms', 'bigint')
      .addCheckConstraint(
        'payment_held_somewhere',
        sql`state not in ('authorized', 'captured', 'consumed') or reference is not null`,
      )
      .addCheckConstraint(
        'payment_captured_once',
        sql`(state in ('captured', 'consumed')) = (captured_at_ms is not null)`,
      )
      .addCheckConstraint(
        'payment_ended',
        sql`(state in ('consumed', 'failed', 'expired')) = (ended_at_ms is not null)`,
      )
      .execute()
    await db.schema.createIndex('payment_due').on('payment').column('due_at_ms').execute()
    await db.schema.createIndex('payment_by_capture').on('payment').columns(['captured_at_ms', 'id']).execute()
    await db.schema.createIndex('payment_by_end').on('payment').columns(['state', 'ended_at_ms']).execute()

    await db.schema
      .createTable('agent_session')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('reference', 'text', (column) => column.notNull())
      .addColumn('calls_total', 'bigint', (column) => column.notNull().check(sql`calls_total > 0`))
      .addColumn('calls_left', 'bigint', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .addCheckConstraint('agent_session_calls', sql`calls_left between 0 and calls_total`)
      .execute()
    await db.schema
      .createTable('agent_session_call')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('lease_until_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('agent_session_call_due').on('agent_session_call').column('lease_until_ms').execute()
  },
}

/** Index for listing and summing all payments without a full scan: see `books.ts`. */
export const paymentsByTime: Migration = {
  async up(db) {
    await sql`create index payment_by_time on payment (coalesce(captured_at_ms, ended_at_ms, due_at_ms), id)`.execute(
      db,
    )
  },
}

/** Adds the count of calls whose clients disconnected after the provider was called. */
export const paymentsLeft: Migration = {
  async up(db) {
    for (const table of ['payment', 'agent_session'])
      await db.schema
        .alterTable(table)
        .addColumn('left_calls', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
  },
}
