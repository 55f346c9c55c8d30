import pg from 'pg'
import { once } from './once.ts'
import { createDatabase, query, serverUrl } from './postgres.ts'
import { createRecordingLog } from './recording-log.ts'

/** Name of the database that others are copied from, one on each server; it has the tables and no rows. */
const TEMPLATE = 'turnpike_migrated'
/** Key of the advisory lock under which the template is created: files of a run share the server. */
const LOCK = 7_260_119

/**
 * Creates a database with the gateway's tables and returns its address: a copy takes a third of the CPU of migrations, a
 * fifth of their time. Tests of migrations use `createDatabase`.
 */
export async function createMigratedDatabase(): Promise<string> {
  await ensureTemplate()
  return createDatabase(TEMPLATE)
}

const ensureTemplate = once(async () => {
  const server = await serverUrl()
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(`select pg_advisory_lock(${LOCK})`)
    const { rowCount } = await client.query('select from pg_database where datname = $1', [TEMPLATE])
    if (rowCount === 0) await createTemplate(server)
  } finally {
    await client.end()
  }
})

/** Migrates under another name, so that there is no half template. */
async function createTemplate(server: string): Promise<void> {
  const { migrateDatabase } = await import('../../src/stores/sql/engine/migrate.ts')
  const databaseUrl = await createDatabase()
  await migrateDatabase({ databaseUrl, dataDir: '', log: createRecordingLog() })
  await query(server, `alter database ${new URL(databaseUrl).pathname.slice(1)} rename to ${TEMPLATE}`)
}
