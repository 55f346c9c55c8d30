import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { KeyInUse, KeyLookup } from '../../../core/ports/keys.ts'
import { sqliteFault, toError } from '../engine/faults.ts'
import { sqliteFile } from '../sqlite/location.ts'
import type { SqlStore } from '../store.ts'
import { SELECT_KEY_IN_USE } from './key-row.ts'
import { SharedLookups } from './shared-lookups.ts'

/** Options of the key look-up. */
export interface KeyLookupOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly store: Pick<SqlStore, 'run'>
}

/**
 * Opens the look-up of keys, which begins after each request: nothing is cached, so a revocation or change by any
 * instance applies to the next request on all of them.
 */
export function openKeyLookup({ databaseUrl, dataDir, store }: KeyLookupOptions): KeyLookup {
  if (databaseUrl === undefined) return new SqliteKeyLookup(sqliteFile(dataDir))
  const shared = new SharedLookups((hash) => store.run('keys.find', { hash }))
  return { find: (hash) => shared.find(hash), close() {} }
}

/** Readers of a write-ahead log wait only for its recovery after a crash. */
const BUSY_TIMEOUT_MS = 50

const FIND = `${SELECT_KEY_IN_USE} where k.hash = ?1 or k.previous_hash = ?1`

/**
 * Looks up on a read-only connection of its own, on the main thread: a few microseconds from the page cache,
 * where a query to the writing thread would take a hundred.
 */
class SqliteKeyLookup implements KeyLookup {
  readonly #file: string
  #open: { readonly database: DatabaseSync; readonly find: StatementSync } | undefined

  constructor(file: string) {
    this.#file = file
  }

  find(hash: string): KeyInUse | undefined {
    try {
      this.#open ??= open(this.#file)
      // Safe: these are the columns of the statement.
      return this.#open.find.get(hash) as KeyInUse | undefined
    } catch (error) {
      this.close()
      throw toError(sqliteFault(error))
    }
  }

  /** Closes the connection; the next look-up opens it again. */
  close(): void {
    const open = this.#open
    this.#open = undefined
    open?.database.close()
  }
}

function open(file: string) {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    return { database, find: database.prepare(FIND) }
  } catch (error) {
    database.close()
    throw error
  }
}
