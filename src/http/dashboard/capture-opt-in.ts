import { deserialize, serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import type { ByteStore } from '../../core/ports/byte-store.ts'
import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'
import type { Channel } from '../../core/ports/channel.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { type AskPeers, connectPeers } from '../../core/telemetry/peers.ts'
import { readText } from './read-text.ts'

/**
 * DESIGN — capture in cloud mode
 *
 * Bodies are captured only after the account has opted in, for a duration that it sets. The opt-in is in the byte store
 * with that duration as its TTL, so that it expires by itself; if it is lost, capture is off. A request must not wait
 * for the store: each process caches opt-ins for ten seconds, and a request without a cached one is not captured. Where
 * each process has its own store, opt-ins are published to all processes, above all their end; a process that has started
 * since asks the others about each account once.
 */
const TOPIC = 'capture-opt-ins'
const QUERIES = 'capture-opt-ins-known'
const MOST_KNOWN = 10_000
const KNOWN_FOR_MS = 10_000

/** Input of `CaptureOptIns`. */
export interface CaptureOptInOptions {
  /** Store of opt-ins, by user. */
  readonly store: ByteStore
  /** Retention of captured bodies, in milliseconds. */
  readonly keepMs: number
  /** Channel to processes with stores of their own; `undefined`: there are none, or all share one. */
  readonly channel?: Channel | undefined
  readonly clock: Clock
  readonly log: Log
}

const optIn = z.object({ userId: z.string(), forMs: z.int().min(0) })

interface Known {
  /** End of the opt-in, in milliseconds since 1970; 0: none. */
  readonly untilMs: number
  readonly askedAtMs: number
}

/** Capture opt-ins of accounts, with their ends. */
export class CaptureOptIns {
  readonly keepMs: number
  readonly #options: CaptureOptInOptions
  readonly #known = new LRUCache<string, Known>(entryLimit(MOST_KNOWN))
  readonly #asking = new Set<string>()
  readonly #askPeers: AskPeers | undefined

  constructor(options: CaptureOptInOptions) {
    this.#options = options
    this.keepMs = options.keepMs
    const { channel } = options
    this.#askPeers = channel && connectPeers({ channel, topic: QUERIES, answer: (userId) => this.#answer(userId) })
    channel?.subscribe(TOPIC, (text) => {
      const published = readText(optIn, text)
      if (published === undefined) return
      this.#put(published.userId, published.forMs).catch((error: unknown) => this.#logUnknown(error))
    })
  }

  /** Returns whether an account has opted in, from the cache; an unknown opt-in is looked up for later requests. */
  isWanted(userId: string | undefined): boolean {
    if (userId === undefined) return false
    const nowMs = this.#options.clock.nowMs()
    const known = this.#known.get(userId)
    if (known === undefined || nowMs - known.askedAtMs > KNOWN_FOR_MS) this.#learn(userId)
    return known !== undefined && known.untilMs > nowMs
  }

  /**
   * Returns the end of the opt-in, in milliseconds since 1970; `undefined` without one. Throws when the store fails.
   */
  async untilMs(userId: string): Promise<number | undefined> {
    const isNew = !this.#known.has(userId)
    const untilMs = await this.#read(userId)
    return untilMs === undefined && isNew ? this.#learnFromPeers(userId) : untilMs
  }

  async #read(userId: string): Promise<number | undefined> {
    const untilMs = await this.#stored(userId)
    const nowMs = this.#options.clock.nowMs()
    this.#known.set(userId, { untilMs, askedAtMs: nowMs })
    return untilMs > nowMs ? untilMs : undefined
  }

  /** Returns the end of the opt-in in the store; 0 for none. */
  async #stored(userId: string): Promise<number> {
    const bytes = await this.#options.store.get(userId)
    return bytes === undefined ? 0 : Number(bytes.toString())
  }

  /** Answers another process with what is left of the opt-in, in milliseconds. */
  async #answer(userId: string): Promise<string> {
    return String(Math.max(0, (await this.#stored(userId)) - this.#options.clock.nowMs()))
  }

  async #learnFromPeers(userId: string): Promise<number | undefined> {
    const known = this.#known.get(userId)
    const answers = (await this.#askPeers?.(userId)) ?? []
    const forMs = Math.max(0, ...answers.map(Number).filter(Number.isSafeInteger))
    // What was published meanwhile is newer than the answers.
    return forMs === 0 || this.#known.get(userId) !== known ? this.#read(userId) : this.#put(userId, forMs)
  }

  /** Opts in for `forMs` from now; 0 ends the opt-in. Resolves with its end. */
  async set(userId: string, forMs: number): Promise<number | undefined> {
    await this.#options.channel?.publish(TOPIC, JSON.stringify({ userId, forMs }), { important: true })
    return this.#put(userId, forMs)
  }

  async #put(userId: string, forMs: number): Promise<number | undefined> {
    const { store, clock } = this.#options
    const untilMs = clock.nowMs() + forMs
    if (forMs === 0) await store.delete(userId)
    else await store.set(userId, Buffer.from(String(untilMs)), forMs)
    return this.#read(userId)
  }

  #learn(userId: string): void {
    if (this.#asking.has(userId)) return
    this.#asking.add(userId)
    this.untilMs(userId)
      .catch((error: unknown) => this.#logUnknown(error))
      .finally(() => this.#asking.delete(userId))
  }

  #logUnknown(error: unknown): void {
    this.#options.log.debug({ reason: messageOf(error) }, 'capture.wish-unknown')
  }
}

/** Creates a capture store on a byte store, which other instances may share. Logs captures that it cannot store. */
export function createStoredCaptures({
  store,
  keepMs,
  log,
}: Pick<CaptureOptInOptions, 'store' | 'keepMs' | 'log'>): CaptureStore {
  return {
    put(captured) {
      store.set(captured.id, serialize(captured), keepMs).catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'capture.not-kept')
      })
    },
    async get(id) {
      const bytes = await store.get(id)
      // Safe: only `put` writes to this store.
      return bytes === undefined ? undefined : (deserialize(bytes) as CapturedRequest)
    },
  }
}
