import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { abortable, type Log } from 'turnpike/plugin'
import type { Follower } from '../book.ts'
import { unpackFact } from '../fact.ts'
import { type Announcement, heard } from './announcement.ts'
import { CHANNEL } from './tables.ts'

const CONNECT_WITHIN_MS = 2000
/** A server that has hung for so long is as good as gone. */
const SILENT_MS = 2000
const BEAT_MS = 1000
const RETRY_AFTER_MS = 200
const START_WITHIN_MS = 250

/** What a listener needs of the book. */
export interface ListenerParts {
  readonly url: string
  readonly log: Log
  /** Sees to the tables; rejects while they are not there. */
  prepare(): Promise<void>
  /** Tells every process, this one too, on another connection. */
  tell(announcement: Announcement): Promise<void>
  /** The bytes of a fact that was too large to be told. */
  find(scope: string, key: string): Promise<Uint8Array | undefined>
}

/**
 * Hears what processes tell each other, on a connection of its own. It counts as hearing when it has heard itself: through
 * a pooler that lends connections by the transaction it would wait for ever, and not know.
 */
export class Listener {
  readonly #parts: ListenerParts
  #follower: Follower | undefined
  #isFollowing = false
  #hasFollowed = false
  #isTold = false
  #probe: { readonly id: string; readonly heard: PromiseWithResolvers<void> } | undefined
  readonly #following = Promise.withResolvers<void>()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  constructor(parts: ListenerParts) {
    this.#parts = parts
  }

  start(follower: Follower): void {
    this.#follower = follower
    this.#running = this.#run()
  }

  /** Resolves when it hears, soon after the start, and rejects at once when it has lost its connection. */
  async assertFollowing(): Promise<void> {
    if (this.#follower === undefined || this.#isFollowing) return
    if (this.#hasFollowed) throw new Error('PostgreSQL does not answer')
    await soon(this.#following.promise, START_WITHIN_MS)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#follow().catch((error: unknown) => this.#lose(error))
      await sleep(RETRY_AFTER_MS, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
    }
  }

  /** Tells the first failure, and that all may have changed meanwhile. */
  #lose(error: unknown): void {
    if (this.#closing.signal.aborted) return
    if (!this.#isTold) this.#parts.log.warn({ reason: reasonOf(error) }, 'entries.lost')
    this.#isTold = true
    if (this.#isFollowing) this.#follower?.onForget(undefined)
    this.#isFollowing = false
  }

  /** Follows until the connection breaks. */
  async #follow(): Promise<void> {
    await this.#parts.prepare()
    const client = new pg.Client({
      connectionString: this.#parts.url,
      application_name: 'turnpike',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: SILENT_MS,
      keepAlive: true,
    })
    const broken = new AbortController()
    client.on('error', () => broken.abort())
    client.on('end', () => broken.abort())
    client.on('notification', ({ payload }) => this.#hear(payload))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      await this.#assertHeard()
      if (this.#isTold) this.#parts.log.info({}, 'entries.regained')
      this.#isTold = false
      this.#isFollowing = true
      this.#hasFollowed = true
      this.#following.resolve()
      const signal = AbortSignal.any([broken.signal, this.#closing.signal])
      for (;;) {
        await sleep(BEAT_MS, undefined, { ref: false, signal }).catch(() => {})
        if (signal.aborted) throw new Error('the connection to PostgreSQL has ended')
        await client.query('select 1')
      }
    } finally {
      // Not waited for: a server that hangs does not say good-bye.
      client.end().catch(() => {})
    }
  }

  async #assertHeard(): Promise<void> {
    const probe = { id: randomUUID(), heard: Promise.withResolvers<void>() }
    this.#probe = probe
    await this.#parts.tell({ probe: probe.id })
    await soon(probe.heard.promise, SILENT_MS)
  }

  #hear(payload: string | undefined): void {
    const announcement = heard(payload)
    if (announcement === undefined) return
    if ('probe' in announcement) {
      if (announcement.probe === this.#probe?.id) this.#probe.heard.resolve()
    } else if ('forget' in announcement) this.#follower?.onForget(announcement.forget ?? undefined)
    else if ('fact' in announcement) this.#take(announcement.scope, Buffer.from(announcement.fact, 'base64'))
    else void this.#fetch(announcement)
  }

  async #fetch({ scope, key }: { scope: string; key: string }): Promise<void> {
    try {
      const value = await this.#parts.find(scope, key)
      if (value !== undefined) this.#take(scope, value)
    } catch {
      this.#follower?.onForget(scope)
    }
  }

  #take(scope: string, value: Uint8Array): void {
    const fact = unpackFact(value)
    if (fact !== undefined) this.#follower?.onFact({ scope, fact })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Rejects when the server takes longer than `ms`. */
function soon(work: Promise<void>, ms: number): Promise<void> {
  return abortable(work, { timeoutMs: ms, onTimeout: () => new Error(`PostgreSQL did not answer within ${ms} ms`) })
}
