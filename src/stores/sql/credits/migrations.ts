import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { makeAppendOnly } from '../engine/append-only.ts'
import { addCounts, addTexts, type Table } from '../engine/columns.ts'

/** The tables of credits and calls. */
export const ledger: Migration = {
  async up(db) {
    let entries: Table = addTexts(db.schema.createTable('ledger_entry'), ['account_id', 'kind', 'idem'])
    entries = addCounts(entries, ['seq', 'posted_after_credits'])
    await entries
      .addColumn('credits', 'bigint', (column) => column.notNull().check(sql`credits <> 0`))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('ledger_entry_key', ['account_id', 'seq'])
      .addUniqueConstraint('ledger_entry_once', ['account_id', 'idem'])
      .execute()
    await makeAppendOnly(db, 'ledger_entry')

    const windows: Table = addTexts(db.schema.createTable('call_window'), ['account_id', 'window_id'])
    await addCounts(windows, ['settled_calls', 'held_calls'])
      .addPrimaryKeyConstraint('call_window_key', ['account_id', 'window_id'])
      .execute()

    const isState = (name: string) => sql<boolean>`${sql.ref(name)} in ('open', 'posted', 'voided', 'expired')`
    let holds: Table = db.schema.createTable('credit_hold')
    holds = holds.addColumn('id', 'text', (column) => column.primaryKey().notNull())
    holds = addTexts(holds, ['account_id', 'window_id'])
    holds = holds.addColumn('state', 'text', (column) => column.notNull().check(isState('state')))
    holds = holds.addColumn('previous_state', 'text', (column) => column.notNull().check(isState('previous_state')))
    await addCounts(holds, ['calls', 'call_credits', 'used_calls', 'charged_credits', 'shortfall_credits', 'due_at_ms'])
      .addCheckConstraint('credit_hold_used', sql`used_calls <= calls`)
      .addCheckConstraint('credit_hold_charged', sql`charged_credits + shortfall_credits = used_calls * call_credits`)
      .execute()
    await db.schema.createIndex('credit_hold_due').on('credit_hold').columns(['state', 'due_at_ms']).execute()

    let hours: Table = addTexts(db.schema.createTable('overage_hour'), ['account_id'])
    hours = addCounts(hours, ['hour_ms', 'calls', 'charged_credits', 'shortfall_credits'])
    await hours.addPrimaryKeyConstraint('overage_hour_key', ['account_id', 'hour_ms']).execute()
    await db.schema.createIndex('overage_hour_by_time').on('overage_hour').column('hour_ms').execute()
  },
}
