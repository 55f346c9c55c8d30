import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../core/errors.ts'
import { sqliteFile } from '../../stores/sql/sqlite/location.ts'
import { commandLog } from '../offline.ts'
import { advice, type Finding, fault, ok } from './finding.ts'

const PATIENCE_MS = 3000

/** Checks that the database and Redis reply. Writes nothing and changes no table. */
export function checkServices(config: Config): Promise<Finding[]> {
  return Promise.all([checkDatabase(config), checkRedis(config)])
}

async function checkDatabase({ database_url: url, data_dir: dataDir }: Config): Promise<Finding> {
  if (url === undefined) return checkFile(sqliteFile(dataDir))
  const { createPool } = await import('../../stores/sql/postgres/pool.ts')
  const times = { connectTimeoutMs: PATIENCE_MS, statementTimeoutMs: PATIENCE_MS }
  const pool = createPool({ url, log: commandLog, max: 1, ...times })
  try {
    const { rows } = await pool.query<{ version: string }>('show server_version')
    return ok(`PostgreSQL ${rows[0]?.version ?? ''} answers`)
  } catch (error) {
    return fault(`PostgreSQL does not reply: ${messageOf(error)}`, 'Check DATABASE_URL, and that the server runs.')
  } finally {
    await pool.end()
  }
}

function checkFile(file: string): Finding {
  if (!existsSync(file)) return ok('the database will be created at the first start')
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE_MS })
    const found = database.prepare('pragma quick_check(1)').get()?.quick_check
    database.close()
    if (found === 'ok') return ok('the database is intact')
    return fault(`the database ${file} is damaged: ${String(found)}`, 'Put a backup in its place: docs/operating.md.')
  } catch (error) {
    return fault(
      `the database ${file} cannot be used: ${messageOf(error)}`,
      'Put a backup in its place: docs/operating.md.',
    )
  }
}

async function checkRedis({ redis_url: url, database_url: databaseUrl }: Config): Promise<Finding> {
  if (url === undefined) {
    if (databaseUrl === undefined) return ok('caches and limits are in memory')
    return advice(
      'several gateways would each have caches and limits of their own',
      'Set REDIS_URL if there is more than one.',
    )
  }
  const { createClient } = await import('@redis/client')
  const client = createClient({ url, socket: { connectTimeout: PATIENCE_MS, reconnectStrategy: false } })
  client.on('error', () => {}) // the awaited call reports it
  try {
    await client.connect()
    await client.ping()
    return ok('Redis answers')
  } catch (error) {
    return fault(`Redis does not reply: ${messageOf(error)}`, 'Check REDIS_URL, and that the server runs.')
  } finally {
    if (client.isOpen) client.destroy()
  }
}
