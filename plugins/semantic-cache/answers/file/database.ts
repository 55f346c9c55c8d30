import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { HEAD_BYTES } from '../answer.ts'
import type { Listed, Operations } from './protocol.ts'

/**
 * DESIGN — answers in a file
 *
 *   answer  key │ value │ expires
 *
 * Processes of one machine share the file. A commit does not wait for the disk: when the power goes, the last ones are
 * lost and the file is sound. Bounded: over `maxBytes` what was written longest ago goes.
 */
const TABLES = `
create table if not exists answer (key text primary key, value blob not null, expires integer not null);
create index if not exists answer_expires on answer (expires);`
/** The file's `user_version`; a file of another version is cleared. */
const VERSION = 2
const EARLIER_TABLES = ['fact', 'reply', 'answer']
/** Longer than a busy machine leaves another process in the middle of a commit; requests do not wait for it. */
const BUSY_TIMEOUT_MS = 4000
const PORTION = 100
const SWEEP_EVERY_MS = 60_000
const SWEEP_AT_ONCE = 500
const DROP_AT_ONCE = 50
const MOST_ROUNDS = 40
const LARGEST_LEFT_LOG_BYTES = 8 * 1024 * 1024

/** File of answers, in the thread that has it open. */
export class AnswerDatabase implements Operations {
  readonly #db: DatabaseSync
  readonly #maxBytes: number
  readonly #statements = new Map<string, StatementSync>()
  #sweepAtMs = 0

  constructor(file: string, maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    this.#db.exec(
      `pragma journal_mode = wal; pragma synchronous = normal; pragma journal_size_limit = ${LARGEST_LEFT_LOG_BYTES}`,
    )
    this.transact(() => this.#createTables())
  }

  /** Runs `work` in one transaction. */
  transact<T>(work: () => T): T {
    this.#db.exec('begin immediate')
    try {
      const result = work()
      this.#db.exec('commit')
      return result
    } catch (error) {
      // A full disk has rolled the transaction back already.
      if (this.#db.isTransaction) this.#db.exec('rollback')
      throw error
    }
  }

  get({ key, nowMs }: { key: string; nowMs: number }): Uint8Array | undefined {
    const row = this.#prepared('select value from answer where key = ? and expires > ?').get(key, nowMs)
    return row?.value as Uint8Array | undefined // safe: the column is a blob
  }

  set({ key, value, expiresAtMs, nowMs }: Parameters<Operations['set']>[0]): void {
    this.#run('insert or replace into answer (key, value, expires) values (?, ?, ?)', key, value, expiresAtMs)
    this.#makeRoom(nowMs)
  }

  delete({ key }: { key: string }): void {
    this.#run('delete from answer where key = ?', key)
  }

  list({ after, nowMs }: { after: string; nowMs: number }): readonly Listed[] {
    const columns = `key, substr(value, 1, ${HEAD_BYTES}) as head, length(value) as bytes, expires as expiresAtMs`
    const sql = `select ${columns} from answer where key > ? and expires > ? order by key limit ${PORTION}`
    return this.#prepared(sql).all(after, nowMs) as unknown as Listed[] // safe: as selected
  }

  evict({ prefix }: { prefix: string }): number {
    const { changes } = this.#prepared('delete from answer where substr(key, 1, ?) = ?').run(prefix.length, prefix)
    return Number(changes)
  }

  close(): void {
    this.#db.close()
  }

  #createTables(): void {
    const version = Number(this.#db.prepare('pragma user_version').get()?.user_version)
    if (version !== VERSION) for (const table of EARLIER_TABLES) this.#db.exec(`drop table if exists ${table}`)
    this.#db.exec(`${TABLES} pragma user_version = ${VERSION}`)
  }

  #makeRoom(nowMs: number): void {
    if (nowMs >= this.#sweepAtMs) {
      this.#sweepAtMs = nowMs + SWEEP_EVERY_MS
      this.#run(
        `delete from answer where rowid in (select rowid from answer where expires <= ? limit ${SWEEP_AT_ONCE})`,
        nowMs,
      )
    }
    for (let round = 0; round < MOST_ROUNDS && this.#usedBytes() > this.#maxBytes; round++)
      this.#run(`delete from answer where rowid in (select rowid from answer order by rowid limit ${DROP_AT_ONCE})`)
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
