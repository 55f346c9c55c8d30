import { once } from 'node:events'
import { type Clock, type Log, renewConnection } from 'turnpike/plugin'
import type { Entry } from '../../entry.ts'
import type { EntryBook, Follower, ScopedFact } from '../book.ts'
import { entryKey, expiryOf, type Fact, type PackedFact, packFact, unpackFact } from '../fact.ts'
import { BUFFERS, type Client, connect, within } from './connection.ts'
import { LogReader } from './log-reader.ts'

/**
 * DESIGN — entries in plain Redis or Valkey (7 or later)
 *
 *   turnpike:semantic:scope:<scope>  hash    key of the fact → fact     expires when its last fact does
 *   turnpike:semantic:log            stream  every fact as it is added  the last few thousand
 *
 * A fact goes into both in one MULTI. An instance reads the log from where it was when it connected, on one connection
 * for all scopes, and loads a scope only after that: what is added meanwhile comes by the log, twice does no harm. When the
 * connection breaks, or the log has moved on without it, all that it has in memory is forgotten and loaded again.
 */
const PREFIX = 'turnpike:semantic'
const LOG_KEY = `${PREFIX}:log`
const SCOPE_PREFIX = `${PREFIX}:scope:`
const LOG_LENGTH = 5000
/** As many as are taken in without holding up the loop. */
const PORTION = 100
/** For what a request waits for: without it in time, it goes on without. */
const DEADLINE_MS = 250
/** For what is written behind a request's back, and for commands. */
const PATIENT_DEADLINE_MS = 5000
const CONNECT_WITHIN_MS = 2000

/** What the book is opened with. */
export interface RedisBookOptions {
  readonly url: string
  readonly clock: Clock
  readonly log: Log
}

/** Entries that instances share through Redis. */
export class RedisBook implements EntryBook {
  readonly engine = 'redis'
  readonly #clock: Clock
  readonly #client: Client
  readonly #reader: LogReader

  constructor({ url, clock, log }: RedisBookOptions) {
    this.#clock = clock
    this.#client = connect(url, log)
    this.#reader = new LogReader(connect(url, log), { key: LOG_KEY, log })
  }

  follow(follower: Follower): void {
    this.#reader.start(follower)
  }

  async load(scope: string, take: (facts: readonly Fact[]) => void): Promise<void> {
    await this.#reader.assertFollowing()
    await this.#scan(SCOPE_PREFIX + scope, take, DEADLINE_MS)
  }

  async list(take: (found: readonly ScopedFact[]) => void): Promise<void> {
    await this.#connected()
    await this.#eachKey(async (key) => {
      const scope = key.slice(SCOPE_PREFIX.length)
      await this.#scan(key, (facts) => take(facts.map((fact) => ({ scope, fact }))), PATIENT_DEADLINE_MS)
    })
  }

  async append(scope: string, facts: readonly Fact[]): Promise<void> {
    const key = SCOPE_PREFIX + scope
    const multi = this.#client.multi()
    for (const packed of facts.map(packFact)) {
      multi.hSet(key, packed.key, bufferOf(packed))
      multi.xAdd(LOG_KEY, '*', { s: scope, f: bufferOf(packed) }, trimmed())
      const ttlMs = Math.max(1, Math.ceil(packed.expiresAtMs - this.#clock.nowMs()))
      // A key without an end counts as endless, so the first is set as it is.
      multi.pExpire(key, ttlMs, 'NX').pExpire(key, ttlMs, 'GT')
    }
    await this.#within(multi.exec())
  }

  async drop(scope: string, entries: readonly Entry[]): Promise<void> {
    if (entries.length > 0) await this.#within(this.#client.hDel(SCOPE_PREFIX + scope, entries.map(entryKey)))
  }

  async clear(scope: string | undefined): Promise<void> {
    await this.#connected()
    if (scope === undefined) await this.#eachKey(async (key) => void (await this.#within(this.#client.unlink(key))))
    else await this.#within(this.#client.unlink(SCOPE_PREFIX + scope))
    await this.#within(this.#client.xAdd(LOG_KEY, '*', { s: scope ?? '' }, trimmed()))
  }

  async close(): Promise<void> {
    await this.#reader.close()
    await within(this.#client.close(), PATIENT_DEADLINE_MS).catch(() => this.#client.destroy())
  }

  /** The connection on which an answer is late is replaced: answers are told apart by their order alone. */
  #within<T>(work: Promise<T>, ms = PATIENT_DEADLINE_MS): Promise<T> {
    return within(work, ms, () => renewConnection(this.#client))
  }

  /** An operator waits for the connection; requests do not. */
  async #connected(): Promise<void> {
    if (!this.#client.isReady) await within(once(this.#client, 'ready'), CONNECT_WITHIN_MS)
  }

  async #scan(key: string, take: (facts: readonly Fact[]) => void, deadlineMs: number): Promise<void> {
    const nowMs = this.#clock.nowMs()
    const expired: string[] = []
    let cursor = '0'
    do {
      const scanning = this.#client.withTypeMapping(BUFFERS).hScan(key, cursor, { COUNT: PORTION })
      const found = await this.#within(scanning, deadlineMs)
      cursor = String(found.cursor)
      const facts: Fact[] = []
      for (const { field, value } of found.entries) {
        const fact = unpackFact(bytesOf(value))
        if (fact === undefined || expiryOf(fact) <= nowMs) expired.push(String(field))
        else facts.push(fact)
      }
      take(facts)
    } while (cursor !== '0')
    if (expired.length > 0) await this.#within(this.#client.hDel(key, expired))
  }

  async #eachKey(work: (key: string) => Promise<void>): Promise<void> {
    const query = { MATCH: `${SCOPE_PREFIX}*`, COUNT: PORTION }
    let cursor = '0'
    do {
      const found = await this.#within(this.#client.scan(cursor, query))
      cursor = String(found.cursor)
      for (const key of found.keys) await work(String(key))
    } while (cursor !== '0')
  }
}

function trimmed() {
  return { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: LOG_LENGTH } } as const
}

function bufferOf({ value }: PackedFact): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.length)
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.isBuffer(value) ? value : new Uint8Array()
}
