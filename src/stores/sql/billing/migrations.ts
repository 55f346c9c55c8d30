import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addCounts, addTexts, type Table } from '../engine/columns.ts'

/** Creates the tables of billing. */
export const billing: Migration = {
  async up(db) {
    const create = (name: string, key: string): Table =>
      db.schema.createTable(name).addColumn(key, 'text', (column) => column.primaryKey().notNull())

    await addCounts(create('billing_sequence', 'id'), ['last_ticket']).execute()
    await addCounts(
      create('billing_customer', 'account_id').addColumn('customer_id', 'text', (column) => column.unique()),
      ['generation'],
    ).execute()

    const counts = ['period_start_ms', 'period_end_ms', 'applied_ticket']
    await addCounts(addTexts(create('billing_subscription', 'id'), ['account_id', 'status', 'tier']), counts)
      .addCheckConstraint('billing_subscription_tier', sql`tier in ('pro', 'team')`)
      .execute()
    await db.schema
      .createIndex('billing_subscription_by_account')
      .on('billing_subscription')
      .column('account_id')
      .execute()

    const credits = ['credits', 'due_credits', 'taken_credits', 'disputed', 'applied_ticket']
    await addCounts(addTexts(create('billing_payment', 'id'), ['account_id']), credits)
      .addCheckConstraint('billing_payment_due', sql`due_credits <= credits`)
      .addCheckConstraint('billing_payment_taken', sql`taken_credits <= due_credits`)
      .execute()

    await addCounts(create('billing_event', 'id'), ['created_at_ms']).execute()
    await db.schema.createIndex('billing_event_by_time').on('billing_event').column('created_at_ms').execute()
    await addCounts(create('billing_task', 'name'), ['due_at_ms']).execute()

    const settings = ['enabled', 'threshold_credits', 'amount_credits', 'monthly_limit_credits']
    await addCounts(create('auto_recharge', 'account_id'), settings).addColumn('disabled_reason', 'text').execute()
    await db.schema
      .createIndex('auto_recharge_enabled')
      .on('auto_recharge')
      .column('account_id')
      .where(sql<boolean>`enabled = 1`)
      .execute()

    const recharges = addTexts(create('recharge', 'id'), ['account_id', 'state'])
    await addCounts(recharges, ['credits', 'attempts', 'next_at_ms', 'created_at_ms'])
      .addColumn('customer_id', 'text')
      .addColumn('payment_method_id', 'text')
      .addColumn('reason', 'text')
      .addCheckConstraint('recharge_state', sql`state in ('pending', 'succeeded', 'failed')`)
      .execute()
    await db.schema
      .createIndex('recharge_pending')
      .unique()
      .on('recharge')
      .column('account_id')
      .where(sql<boolean>`state = 'pending'`)
      .execute()
    await db.schema.createIndex('recharge_by_account').on('recharge').columns(['account_id', 'created_at_ms']).execute()

    const reports = addTexts(create('meter_report', 'id'), ['account_id', 'state'])
    await addCounts(reports, ['hour_ms', 'part', 'calls', 'attempts', 'next_at_ms'])
      .addColumn('tried_at_ms', 'bigint')
      .addCheckConstraint('meter_report_state', sql`state in ('pending', 'sent', 'lost')`)
      .addUniqueConstraint('meter_report_part', ['account_id', 'hour_ms', 'part'])
      .execute()
    await db.schema.createIndex('meter_report_due').on('meter_report').columns(['state', 'next_at_ms']).execute()
  },
}

/** Creates the table of prorations. */
export const billingProrations: Migration = {
  async up(db) {
    const table = db.schema
      .createTable('billing_proration')
      .addColumn('account_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('net_credits', 'bigint', (column) => column.notNull())
    await addCounts(table, ['taken_credits']).execute()
  },
}
