import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { accounts } from './accounts/migrations.ts'
import { people } from './accounts/people-migration.ts'
import { alerts } from './alerts/migrations.ts'
import { billing, billingProrations } from './billing/migrations.ts'
import { ledger } from './credits/migrations.ts'
import { addCounts, addTexts, type Table } from './engine/columns.ts'
import { payments, paymentsByTime, paymentsLeft } from './payments/migrations.ts'

import { receiptLog, receipts } from './receipts/migrations.ts'
import { responseConversations, responses } from './responses/migrations.ts'
import type { Database } from './schema.ts'
import { settings } from './settings/migrations.ts'
import { sessions } from './sign-in/migrations.ts'
import { telemetryMigrations } from './telemetry/migrations.ts'

const spend: Migration = {
  async up(db) {
    const windows = addTexts(db.schema.createTable('spend_window'), ['scope', 'window_id'])
    await addCounts(windows, ['settled_nano_usd', 'held_nano_usd'])
      .addPrimaryKeyConstraint('spend_window_key', ['scope', 'window_id'])
      .execute()

    const isState = (name: string) => sql<boolean>`${sql.ref(name)} in ('open', 'expired', 'settled')`
    let holds: Table = db.schema.createTable('spend_hold')
    holds = holds.addColumn('id', 'text', (column) => column.primaryKey().notNull())
    holds = holds.addColumn('state', 'text', (column) => column.notNull().check(isState('state')))
    holds = holds.addColumn('previous_state', 'text', (column) => column.notNull().check(isState('previous_state')))
    await addCounts(holds, ['amount_nano_usd', 'previous_amount_nano_usd'])
      .addColumn('cost_nano_usd', 'bigint')
      .addColumn('windows', 'text', (column) => column.notNull())
      .addColumn('due_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('spend_hold_due').on('spend_hold').columns(['state', 'due_at_ms']).execute()
  },
}

/** Index for deleting old windows without a full scan. */
const windowsByTime: Migration = {
  async up(db) {
    await db.schema.createIndex('spend_window_by_window').on('spend_window').column('window_id').execute()
  },
}

/** Budgets: windows without a calendar, whose limits can be raised, and which are deleted some days after their last use. */
const budgets: Migration = {
  async up(db) {
    const table = () => db.schema.alterTable('spend_window')
    for (const name of ['limit_nano_usd', 'raised_nano_usd', 'begun_at_ms'])
      await table()
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    await table().addColumn('used_day', 'bigint').execute()
    await db.schema.createIndex('spend_window_by_use').on('spend_window').column('used_day').execute()
  },
}

/** The migrations from an empty database to the current one, in the order of their names. A released one never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-spend': spend,
  '0002-receipts': receipts,
  '0003-windows-by-time': windowsByTime,
  '0004-accounts': accounts,
  '0005-ledger': ledger,
  '0006-billing': billing,
  '0007-payments': payments,
  '0008-payments-by-time': paymentsByTime,
  '0009-billing-prorations': billingProrations,
  '0010-payments-left': paymentsLeft,
  '0011-receipt-log': receiptLog,
  '0012-responses': responses,
  '0013-budgets': budgets,
  '0014-response-conversations': responseConversations,
  '0015-people': people,
  '0016-sessions': sessions,
  '0017-alerts': alerts,
  '0018-settings': settings,
}

/** Tables that are migrated together; each set records its own migrations, so that either may get new ones. */
export interface TableSet {
  readonly steps: Readonly<Record<string, Migration>>
  /** Names of the tables that record applied migrations. */
  readonly memory: { readonly migrationTableName?: string; readonly migrationLockTableName?: string }
}

/** The sets of tables. PostgreSQL has them in one database, SQLite in a file each. */
export const tableSets = {
  accounts: { steps: migrations, memory: {} },
  telemetry: {
    steps: telemetryMigrations,
    memory: { migrationTableName: 'telemetry_migration', migrationLockTableName: 'telemetry_migration_lock' },
  },
} as const satisfies Record<string, TableSet>

/** The name of a set of tables. */
export type TableSetName = keyof typeof tableSets

/**
 * Migrates the tables and returns the names of the applied migrations. All of them are one transaction under a lock:
 * a failure leaves nothing, and of two at once one waits. Throws `internal_error` with the name of a failed migration.
 */
export async function migrate(
  db: Kysely<Database>,
  { steps, memory }: TableSet = tableSets.accounts,
): Promise<string[]> {
  const provider = { getMigrations: async () => ({ ...steps }) }
  const { error, results } = await new Migrator({ db, provider, ...memory }).migrateToLatest()
  if (error === undefined) return (results ?? []).map(({ migrationName }) => migrationName)
  const unknown = /previously executed migration (\S+) is missing/.exec(messageOf(error))?.[1]
  if (unknown !== undefined) {
    const words = `The database was made by a newer version (it has \`${unknown}\`). Start that version.`
    throw new GatewayError('internal_error', words, { cause: error })
  }
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName
  if (failed === undefined) throw error
  throw new GatewayError('internal_error', `The migration \`${failed}\` failed: ${messageOf(error)}`, { cause: error })
}
