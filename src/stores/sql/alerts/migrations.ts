import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addCounts, addTexts } from '../engine/columns.ts'

/** The outbox of alerts. */
export const alerts: Migration = {
  async up(db) {
    const texts = ['id', 'kind', 'severity', 'subject', 'title', 'details']
    await addCounts(addTexts(db.schema.createTable('alert'), texts), ['at_ms'])
      .addPrimaryKeyConstraint('alert_key', ['id'])
      .execute()
    await db.schema.createIndex('alert_by_time').on('alert').columns(['at_ms', 'id']).execute()

    const deliveries = addTexts(db.schema.createTable('alert_delivery'), ['alert_id', 'channel', 'state'])
    await addCounts(deliveries, ['tries', 'due_at_ms'])
      .addColumn('error', 'text')
      .addColumn('sent_at_ms', 'bigint')
      .addPrimaryKeyConstraint('alert_delivery_key', ['alert_id', 'channel'])
      .addCheckConstraint('alert_delivery_state', sql`state in ('due', 'sent', 'failed')`)
      .execute()
    await db.schema
      .createIndex('alert_delivery_due')
      .on('alert_delivery')
      .column('due_at_ms')
      .where(sql.ref('state'), '=', sql.lit('due'))
      .execute()

    await addCounts(addTexts(db.schema.createTable('alert_mark'), ['dedupe_key']), ['repeats_at_ms'])
      .addPrimaryKeyConstraint('alert_mark_key', ['dedupe_key'])
      .execute()
    await db.schema.createIndex('alert_mark_by_end').on('alert_mark').column('repeats_at_ms').execute()

    await addCounts(addTexts(db.schema.createTable('alert_lease'), ['name', 'holder']), ['until_ms'])
      .addPrimaryKeyConstraint('alert_lease_key', ['name'])
      .execute()
  },
}
