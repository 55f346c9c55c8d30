import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Operations, Portion, Row } from './protocol.ts'

/**
 * DESIGN — entries and replies in a file
 *
 *   fact   revision │ scope │ key │ value │ expires    a fact written again gets a new revision, the next of all
 *   reply  id │ value │ expires
 *
 * Processes of one machine share the file; what others have written since is what has a higher revision. A commit does not
 * wait for the disk: when the power goes, the last ones are lost and the file is sound. Bounded: over `maxBytes` what was
 * written longest ago goes, replies and facts alike.
 */
const TABLES = `
create table if not exists fact (
  revision integer primary key autoincrement, scope text not null, key text not null, value blob not null,
  expires integer not null, unique (scope, key));
create index if not exists fact_expires on fact (expires);
create table if not exists reply (id text primary key, value blob not null, expires integer not null);
create index if not exists reply_expires on reply (expires);`
/** The file's `user_version`; one of another version is cleared. */
const VERSION = 1
const BUSY_TIMEOUT_MS = 1000
const PORTION = 100
const SWEEP_EVERY_MS = 60_000
const SWEEP_AT_ONCE = 500
const DROP_AT_ONCE = 50
const MOST_ROUNDS = 40
/** A key that no fact has: the scope is cleared, and all are when it stands in the scope `*`. */
const CLEARED = 'cleared'
const ALL = '*'
const CLEARED_KEPT_MS = 3_600_000
const LARGEST_LEFT_LOG_BYTES = 8 * 1024 * 1024

/** The file of entries, in the thread that has it open. */
export class EntryDatabase implements Operations {
  readonly #db: DatabaseSync
  readonly #maxBytes: number
  readonly #statements = new Map<string, StatementSync>()
  #revision: number
  #dataVersion = -1
  #sweepAtMs = 0

  constructor(file: string, maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    this.#db.exec(
      `pragma journal_mode = wal; pragma synchronous = normal; pragma journal_size_limit = ${LARGEST_LEFT_LOG_BYTES}`,
    )
    this.transact(() => this.#createTables())
    this.#revision = this.#newest()
  }

  /** Runs `work` in one transaction. */
  transact<T>(work: () => T): T {
    this.#db.exec('begin immediate')
    try {
      const result = work()
      this.#db.exec('commit')
      return result
    } catch (error) {
      // A full disk has undone the transaction already.
      if (this.#db.isTransaction) this.#db.exec('rollback')
      throw error
    }
  }

  load({ scope, after, nowMs }: { scope: string; after: number; nowMs: number }): Portion {
    const where = 'scope = ? and revision > ? and expires > ? and key != ?'
    return this.#portion(where, [scope, after, nowMs, CLEARED])
  }

  list({ after, nowMs }: { after: number; nowMs: number }): Portion {
    return this.#portion('revision > ? and expires > ? and key != ?', [after, nowMs, CLEARED])
  }

  append({ scope, facts, nowMs }: Parameters<Operations['append']>[0]): void {
    for (const { key, value, expiresAtMs } of facts) this.#write(scope, { key, value, expires: expiresAtMs })
    this.#makeRoom(nowMs)
  }

  drop({ scope, keys }: { scope: string; keys: readonly string[] }): void {
    for (const key of keys) this.#run('delete from fact where scope = ? and key = ?', scope, key)
  }

  clear({ scope, nowMs }: { scope: string | undefined; nowMs: number }): void {
    if (scope === undefined) this.#db.exec('delete from fact; delete from reply')
    else this.#run('delete from fact where scope = ?', scope)
    this.#write(scope ?? ALL, { key: CLEARED, value: new Uint8Array(), expires: nowMs + CLEARED_KEPT_MS })
  }

  getReply({ id, nowMs }: { id: string; nowMs: number }): Uint8Array | undefined {
    const row = this.#prepared('select value from reply where id = ? and expires > ?').get(id, nowMs)
    return row?.value as Uint8Array | undefined // safe: the column is a blob
  }

  setReply({ id, value, expiresAtMs, nowMs }: Parameters<Operations['setReply']>[0]): void {
    this.#run('insert or replace into reply (id, value, expires) values (?, ?, ?)', id, value, expiresAtMs)
    this.#makeRoom(nowMs)
  }

  deleteReply({ id }: { id: string }): void {
    this.#run('delete from reply where id = ?', id)
  }

  /** What other processes, and this one, have written since the last call, in its order. */
  changes(): { rows: readonly Row[]; cleared: readonly (string | undefined)[] } {
    const version = Number(this.#prepared('pragma data_version').get()?.data_version)
    if (version === this.#dataVersion) return { rows: [], cleared: [] }
    const sql = 'select revision, scope, key, value from fact where revision > ? order by revision limit ?'
    const found = this.#prepared(sql).all(this.#revision, PORTION) as unknown as (Row & Written)[] // safe: as selected
    if (found.length < PORTION) this.#dataVersion = version
    this.#revision = found.at(-1)?.revision ?? this.#revision
    const cleared = found.filter(({ key }) => key === CLEARED).map(({ scope }) => (scope === ALL ? undefined : scope))
    const rows = found.filter(({ key }) => key !== CLEARED).map(({ scope, value }) => ({ scope, value }))
    return { rows, cleared }
  }

  close(): void {
    this.#db.close()
  }

  #createTables(): void {
    const version = Number(this.#db.prepare('pragma user_version').get()?.user_version)
    if (version !== VERSION) this.#db.exec('drop table if exists fact; drop table if exists reply')
    this.#db.exec(`${TABLES} pragma user_version = ${VERSION}`)
  }

  #newest(): number {
    return Number(this.#db.prepare('select max(revision) as newest from fact').get()?.newest ?? 0)
  }

  #portion(where: string, values: (string | number)[]): Portion {
    const sql = `select revision, scope, key, value from fact where ${where} order by revision limit ${PORTION}`
    const rows = this.#prepared(sql).all(...values) as unknown as (Row & Written)[] // safe: as selected
    const next = rows.length < PORTION ? undefined : rows.at(-1)?.revision
    return { rows: rows.map(({ scope, value }) => ({ scope, value })), next }
  }

  #write(scope: string, { key, value, expires }: { key: string; value: Uint8Array; expires: number }): void {
    const sql = 'insert or replace into fact (scope, key, value, expires) values (?, ?, ?, ?)'
    this.#run(sql, scope, key, value, expires)
  }

  #makeRoom(nowMs: number): void {
    if (nowMs >= this.#sweepAtMs) {
      this.#sweepAtMs = nowMs + SWEEP_EVERY_MS
      for (const table of ['fact', 'reply']) {
        const expired = `select rowid from ${table} where expires <= ? limit ${SWEEP_AT_ONCE}`
        this.#run(`delete from ${table} where rowid in (${expired})`, nowMs)
      }
    }
    for (let round = 0; round < MOST_ROUNDS && this.#usedBytes() > this.#maxBytes; round++) {
      for (const table of ['fact', 'reply']) {
        const oldest = `select rowid from ${table} order by rowid limit ${DROP_AT_ONCE}`
        this.#run(`delete from ${table} where rowid in (${oldest})`)
      }
    }
  }

  #usedBytes(): number {
    const number = (name: string) => Number(Object.values(this.#prepared(`pragma ${name}`).get() ?? {})[0])
    return (number('page_count') - number('freelist_count')) * number('page_size')
  }

  #run(sql: string, ...values: (string | number | Uint8Array)[]): void {
    this.#prepared(sql).run(...values)
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

interface Written {
  readonly revision: number
  readonly key: string
}
