import type { ByteStore, Clock, Log } from 'turnpike/plugin'
import type { Entry } from '../../entry.ts'
import type { EntryBook, Follower, ScopedFact } from '../book.ts'
import { entryKey, type Fact, type PackedFact, packFact, unpackFact } from '../fact.ts'
import { type Announcement, announce } from './announcement.ts'
import { Candidates } from './candidates.ts'
import { Connections, isTableMissing } from './connection.ts'
import { Listener } from './listener.ts'
import { CHANNEL, FACTS, makeTables, REPLIES } from './tables.ts'
import { Turns } from './turns.ts'
import { Upkeep } from './upkeep.ts'

/** As many rows as are taken in without holding up the loop. */
const PORTION = 200
/** For what a request waits for: without it in time, it goes on without. */
const DEADLINE_MS = 250
/** For what is written behind a request's back, and for commands. */
const PATIENT_DEADLINE_MS = 5000
/** A search in a large scope takes longer than loading a portion does, and is not worth more time than this. */
const SEARCH_DEADLINE_MS = 100
const SEARCH_CONNECTIONS = 2
const CONNECTIONS = 4
const PATIENT_CONNECTIONS = 4

const LOAD = `select key, value from ${FACTS} where scope = $1 and key > $2 and expires > $3 order by key limit ${PORTION}`
const LIST = `select scope, key, value from ${FACTS} where (scope, key) > ($1, $2) and expires > $3
  order by scope, key limit ${PORTION}`
const FIND = `select value from ${FACTS} where scope = $1 and key = $2`
/** In one statement: who hears of a fact finds it. */
const PUT = `with put as (
    insert into ${FACTS} (scope, key, value, vector, bytes, expires) values ($1, $2, $3, $4::halfvec, $5, $6)
    on conflict (scope, key) do update set value = excluded.value, vector = excluded.vector, bytes = excluded.bytes,
      expires = excluded.expires, revision = excluded.revision)
  select pg_notify('${CHANNEL}', $7)`
const PUT_REPLY = `insert into ${REPLIES} (key, value, bytes, expires) values ($1, $2, $3, $4)
  on conflict (key) do update set value = excluded.value, bytes = excluded.bytes, expires = excluded.expires,
    revision = excluded.revision`
/** The halves of a vector are as many bytes again, twice. */
const HALF_BYTES = 2

/** What the book is opened with. */
export interface PostgresBookOptions {
  readonly url: string
  /** Bounds the tables. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** Entries and replies that instances share through PostgreSQL with the extension `vector`. */
export class PostgresBook implements EntryBook {
  readonly engine = 'postgres'
  readonly candidates: Candidates
  readonly #clock: Clock
  readonly #hasty: Connections
  readonly #patient: Connections
  readonly #searching: Connections
  readonly #listener: Listener
  readonly #upkeep: Upkeep
  readonly #turns = new Turns(PATIENT_DEADLINE_MS)
  #prepared: Promise<void> | undefined

  constructor({ url, maxBytes, clock, log }: PostgresBookOptions) {
    this.#clock = clock
    this.#hasty = new Connections({ url, log, deadlineMs: DEADLINE_MS, most: CONNECTIONS })
    this.#patient = new Connections({ url, log, deadlineMs: PATIENT_DEADLINE_MS, most: PATIENT_CONNECTIONS })
    this.#searching = new Connections({ url, log, deadlineMs: SEARCH_DEADLINE_MS, most: SEARCH_CONNECTIONS })
    this.candidates = new Candidates(this.#searching, clock)
    this.#upkeep = new Upkeep(this.#patient, { maxBytes, clock, log })
    this.#listener = new Listener({
      url,
      log,
      prepare: () => this.prepare(),
      tell: (announcement) => this.#tell(announcement),
      find: async (scope, key) => bytesOf((await this.#patient.ask(FIND, [scope, key]))[0]),
    })
  }

  /** Sees to the tables, once; rejects when that cannot be done, and tries again the next time. */
  prepare(): Promise<void> {
    this.#prepared ??= makeTables(this.#patient).catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  follow(follower: Follower): void {
    this.#listener.start(follower)
  }

  async load(scope: string, take: (facts: readonly Fact[]) => void): Promise<void> {
    await this.#listener.assertFollowing()
    const nowMs = this.#clock.nowMs()
    for (let after: unknown = ''; after !== undefined; ) {
      const rows = await this.#hasty.ask(LOAD, [scope, after, nowMs])
      take(rows.flatMap(factOf))
      after = rows.length < PORTION ? undefined : rows.at(-1)?.key
    }
  }

  async list(take: (found: readonly ScopedFact[]) => void): Promise<void> {
    await this.prepare()
    const nowMs = this.#clock.nowMs()
    for (let last: Record<string, unknown> | undefined = { scope: '', key: '' }; last !== undefined; ) {
      const rows = await this.#patient.ask(LIST, [last.scope, last.key, nowMs])
      take(rows.flatMap((row) => factOf(row).map((fact) => ({ scope: String(row.scope), fact }))))
      last = rows.length < PORTION ? undefined : rows.at(-1)
    }
  }

  async append(scope: string, facts: readonly Fact[]): Promise<void> {
    await this.#turns.take(scope, async () => {
      await this.prepare()
      for (const fact of facts) await this.#write(PUT, putOf(scope, fact))
    })
    this.#upkeep.seeTo()
  }

  async drop(scope: string, entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return
    const sql = `delete from ${FACTS} where scope = $1 and key = any($2)`
    await this.#turns.take(scope, () => this.#write(sql, [scope, entries.map(entryKey)]))
  }

  async clear(scope: string | undefined): Promise<void> {
    await this.prepare()
    if (scope === undefined) await this.#write(`truncate ${FACTS}, ${REPLIES}`)
    else await this.#write(`delete from ${FACTS} where scope = $1`, [scope])
    await this.#tell({ forget: scope ?? null })
  }

  /** Bytes that are kept beside the facts. */
  replies(): ByteStore {
    return {
      get: async (key) => {
        const sql = `select value from ${REPLIES} where key = $1 and expires > $2`
        return bytesOf((await this.#hasty.ask(sql, [key, this.#clock.nowMs()]))[0])
      },
      set: async (key, value, ttlMs) => {
        await this.prepare()
        await this.#write(PUT_REPLY, [key, value, value.length, this.#clock.nowMs() + ttlMs])
        this.#upkeep.seeTo()
      },
      delete: (key) => this.#write(`delete from ${REPLIES} where key = $1`, [key]),
    }
  }

  async close(): Promise<void> {
    await this.#listener.close()
    await Promise.all([this.#hasty, this.#patient, this.#searching].map((connections) => connections.close()))
  }

  #tell(announcement: Announcement): Promise<void> {
    return this.#write('select pg_notify($1, $2)', [CHANNEL, JSON.stringify(announcement)])
  }

  async #write(sql: string, values: readonly unknown[] = []): Promise<void> {
    try {
      await this.#patient.ask(sql, values)
    } catch (error) {
      // Whoever has dropped the tables shall have them made again.
      if (isTableMissing(error)) this.#prepared = undefined
      throw error
    }
  }
}

function putOf(scope: string, fact: Fact): readonly unknown[] {
  const packed: PackedFact = packFact(fact)
  const { key, value, expiresAtMs } = packed
  const vector = fact.kind === 'entry' ? fact.vector : undefined
  const bytes = value.length + HALF_BYTES * (vector?.length ?? 0)
  const halves = vector === undefined ? null : `[${vector.join(',')}]`
  return [scope, key, value, halves, bytes, expiresAtMs, JSON.stringify(announce(scope, packed))]
}

function factOf(row: Record<string, unknown>): Fact[] {
  const value = bytesOf(row)
  const fact = value && unpackFact(value)
  return fact === undefined ? [] : [fact]
}

function bytesOf(row: Record<string, unknown> | undefined): Buffer | undefined {
  return Buffer.isBuffer(row?.value) ? row.value : undefined
}
