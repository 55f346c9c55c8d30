import path from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import { makeFolder } from '../../../core/system/make-folder.ts'
import { SQLITE_BUSY, sqliteCodeOf } from '../engine/faults.ts'
import { prepareDirectly } from '../engine/statement.ts'
import { hasAllSteps, migrate, recordOf, type TableSet, type TableSetName, tableSets } from '../migrations.ts'
import type { Database } from '../schema.ts'
import { createSqliteDialect } from './dialect.ts'

const BUSY_TIMEOUT_MS = 5000
const BUSY_PAUSE_MS = 20
const IN_MEMORY = ':memory:'
/** A page that many batches change is written back once for all batches of a log: 16 MB instead of SQLite's 4. */
const TELEMETRY_LOG_PAGES = 4000
const LARGEST_LEFT_LOG_BYTES = 64 * 1024 * 1024

/** A database of this thread. */
export interface OpenDatabase {
  /** For the transaction around commands. */
  readonly raw: DatabaseSync
  readonly db: Kysely<Database>
  /** Sets the time of the following commands, as returned by `now_ms()`. */
  setNow(nowMs: number): void
  /** The migrations applied at the opening. */
  readonly migrated: readonly string[]
}

/**
 * Durability of a commit. FULL: it is on the disk. NORMAL: it does not wait for the disk, and a power failure loses the
 * last ones, while the file stays sound; sufficient for anything but money.
 */
const SYNCHRONOUS = { accounts: 'full', telemetry: 'normal' } as const satisfies Record<TableSetName, string>

/** Opens a database, created if it does not exist, and migrates its tables. */
export async function openDatabase(file: string, tables: TableSetName = 'accounts'): Promise<OpenDatabase> {
  if (file !== IN_MEMORY) makeFolder(path.dirname(file))
  const raw = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    await whileBusy(() => setUp(raw, { file, tables }))
    let presentMs = 0
    raw.function('now_ms', () => presentMs)
    const setNow = (nowMs: number): void => {
      presentMs = nowMs
    }
    const db = new Kysely<Database>({ dialect: createSqliteDialect(raw) })
    const migrated = isCurrent(raw, tableSets[tables]) ? [] : await migrate(db, tableSets[tables])
    prepareDirectly(db, (text) => {
      const prepared = raw.prepare(text)
      // The cast is safe: parameters are strings, numbers and null, as the types of the tables are.
      return (parameters) => prepared.all(...(parameters as SQLInputValue[]))
    })
    raw.exec('pragma busy_timeout = 0') // from here on `beginWrite` waits
    return { raw, db, setNow, migrated }
  } catch (error) {
    raw.close()
    throw error
  }
}

function setUp(raw: DatabaseSync, { file, tables }: { file: string; tables: TableSetName }): void {
  const mode = raw.prepare('pragma journal_mode = wal').get()?.journal_mode
  if (mode !== 'wal' && file !== IN_MEMORY) {
    const words = `The folder of \`${file}\` does not allow a write-ahead log; it must not be a network drive.`
    throw new GatewayError('service_unavailable', words)
  }
  raw.exec(`pragma synchronous = ${SYNCHRONOUS[tables]}; pragma journal_size_limit = ${LARGEST_LEFT_LOG_BYTES}`)
  if (tables === 'telemetry') raw.exec(`pragma wal_autocheckpoint = ${TELEMETRY_LOG_PAGES}`)
}

/**
 * Returns true if the tables have all of their migrations. Kysely's migrator finds that out by describing every table,
 * which takes about as long as the rest of an opening. Like the migrator it begins to write, so a database that cannot be
 * written to is refused.
 */
function isCurrent(raw: DatabaseSync, set: TableSet): boolean {
  const record = recordOf(set)
  raw.exec('begin immediate')
  try {
    if (raw.prepare('select 1 from sqlite_schema where name = ?').get(record) === undefined) return false
    return hasAllSteps(set, raw.prepare(`select name from ${record}`).all())
  } finally {
    if (raw.isTransaction) raw.exec('rollback')
  }
}

/** Retries while another process opens the same new file: changing its mode does not wait by itself. */
async function whileBusy(work: () => void): Promise<void> {
  const deadlineMs = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (sqliteCodeOf(error) !== SQLITE_BUSY || performance.now() > deadlineMs) throw error
      await sleep(BUSY_PAUSE_MS)
    }
  }
}
