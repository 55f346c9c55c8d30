import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { ACCOUNT_TABLES_SQL } from './accounts/schema.ts'
import { ALERT_TABLES_SQL } from './alerts/schema.ts'
import { BILLING_TABLES_SQL } from './billing/schema.ts'
import { LEDGER_TABLES_SQL } from './credits/schema.ts'
import { makeAppendOnly } from './engine/append-only.ts'
import { PAYMENT_TABLES_SQL } from './payments/schema.ts'
import { RECEIPT_TABLES_SQL } from './receipts/schema.ts'
import { RESPONSE_TABLES_SQL } from './responses/schema.ts'
import type { Database } from './schema.ts'
import { SETTING_TABLES_SQL } from './settings/schema.ts'
import { SIGN_IN_TABLES_SQL } from './sign-in/schema.ts'
import { SPEND_TABLES_SQL } from './spend/schema.ts'
import { CONVERSATION_TABLE_SQL } from './telemetry/conversation-schema.ts'
import { TELEMETRY_TABLES_SQL } from './telemetry/schema.ts'
import { SLICE_TABLE_SQL } from './telemetry/slice-schema.ts'

const ORIGIN_BYTES = 10
const TABLES_SQL = [
  SPEND_TABLES_SQL,
  RECEIPT_TABLES_SQL,
  ACCOUNT_TABLES_SQL,
  LEDGER_TABLES_SQL,
  BILLING_TABLES_SQL,
  PAYMENT_TABLES_SQL,
  RESPONSE_TABLES_SQL,
  SIGN_IN_TABLES_SQL,
  ALERT_TABLES_SQL,
  SETTING_TABLES_SQL,
]
const APPEND_ONLY = ['audit_entry', 'ledger_entry', 'receipt_log', 'receipt_head']

const tables: Migration = {
  async up(db) {
    for (const text of TABLES_SQL) await execute(db, text)
    // The name of the database's ledger of receipts.
    const origin = `turnpike/ledger/${randomBytes(ORIGIN_BYTES).toString('hex')}`
    await sql`insert into receipt_log (origin, created_at_ms) values (${origin}, ${Date.now()})`.execute(db)
    for (const table of APPEND_ONLY) await makeAppendOnly(db, table)
  },
}

async function execute(db: Kysely<unknown>, text: string): Promise<void> {
  for (const statement of text.split(';\n')) if (statement.trim() !== '') await sql.raw(statement).execute(db)
}

/** The end of a key that belongs to a session; checkouts before the first release have tables without it. */
const managedKeys: Migration = {
  async up(db) {
    await db.schema.alterTable('api_key').addColumn('managed_until_ms', 'bigint').execute()
  },
}

/** The migrations from an empty database to the current one, in the order of their names. A released one never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-tables': tables,
  '0002-managed-keys': managedKeys,
}

const telemetryMigrations: Readonly<Record<string, Migration>> = {
  'telemetry-0001-tables': {
    async up(db) {
      for (const text of [TELEMETRY_TABLES_SQL, CONVERSATION_TABLE_SQL, SLICE_TABLE_SQL]) await execute(db, text)
    },
  },
}

/** Tables that are migrated together; each set records its own migrations, so that either may get new ones. */
export interface TableSet {
  readonly steps: Readonly<Record<string, Migration>>
  /** Names of the tables that record applied migrations. */
  readonly memory: { readonly migrationTableName?: string; readonly migrationLockTableName?: string }
  /** Name of the last of the steps that made the same tables in checkouts before the first release. */
  readonly lastFormerStep?: string
}

/** The sets of tables. PostgreSQL has them in one database, SQLite in a file each. */
export const tableSets = {
  accounts: { steps: migrations, memory: {}, lastFormerStep: '0018-settings' },
  telemetry: {
    steps: telemetryMigrations,
    memory: { migrationTableName: 'telemetry_migration', migrationLockTableName: 'telemetry_migration_lock' },
    lastFormerStep: 'telemetry-0007-slices',
  },
} as const satisfies Record<string, TableSet>

/** The name of a set of tables. */
export type TableSetName = keyof typeof tableSets

/** Returns the name of the table that records the applied migrations. */
export function recordOf({ memory }: TableSet): string {
  return memory.migrationTableName ?? DEFAULT_MIGRATION_TABLE
}

/** Returns true if `rows` of the record name the set's migrations and no others. */
export function hasAllSteps({ steps }: TableSet, rows: readonly Record<string, unknown>[]): boolean {
  return rows.length === Object.keys(steps).length && rows.every(({ name }) => Object.hasOwn(steps, String(name)))
}

/**
 * Migrates the tables and returns the names of the applied migrations. All of them are one transaction under a lock:
 * a failure leaves nothing, and of two at once one waits. Throws `internal_error` with the name of a failed migration.
 */
export async function migrate(db: Kysely<Database>, set: TableSet = tableSets.accounts): Promise<string[]> {
  const { steps, memory } = set
  const provider = { getMigrations: async () => ({ ...steps }) }
  const { error, results } = await new Migrator({ db, provider, ...memory }).migrateToLatest()
  if (error === undefined) return (results ?? []).map(({ migrationName }) => migrationName)
  const unknown = /previously executed migration (\S+) is missing/.exec(messageOf(error))?.[1]
  if (unknown !== undefined) {
    if (await renameFormerSteps(db, set)) return migrate(db, set)
    const words = `The database was made by another version (it has \`${unknown}\`). Start that version.`
    throw new GatewayError('internal_error', words, { cause: error })
  }
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName
  if (failed === undefined) throw error
  throw new GatewayError('internal_error', `The migration \`${failed}\` failed: ${messageOf(error)}`, { cause: error })
}

/** Records the first step in place of the former ones that made the same tables; returns whether this or another process did. */
async function renameFormerSteps(db: Kysely<Database>, set: TableSet): Promise<boolean> {
  const { steps, lastFormerStep } = set
  if (lastFormerStep === undefined) return false
  const record = sql.table(recordOf(set))
  return await db.transaction().execute(async (transaction) => {
    const change = sql`update ${record} set name = ${Object.keys(steps)[0]} where name = ${lastFormerStep}`
    const { numAffectedRows = 0n } = await change.execute(transaction)
    if (numAffectedRows > 0n)
      await sql`delete from ${record} where name <> ${Object.keys(steps)[0]}`.execute(transaction)
    const { rows } = await sql<Record<string, unknown>>`select name from ${record}`.execute(transaction)
    return rows.every(({ name }) => Object.hasOwn(steps, String(name)))
  })
}
