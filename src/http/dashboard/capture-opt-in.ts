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
import { readText } from './read-text.ts'

/**
 * DESIGN — capture in cloud mode
 *
 * Nobody's bodies are kept unless the account has said so, for a time that it has set. The wish lies in the byte store
 * with that time as its life, so that it ends by itself, and if it is lost the answer is no. A request must not wait for
 * the store: each process keeps wishes for ten seconds, and a request for which none is known yet is not captured. Where
 * each process has a store of its own, all are told of a wish: also, and above all, of its end.
 */
const TOPIC = 'capture-wishes'
const MOST_KNOWN = 10_000
const KNOWN_FOR_MS = 10_000

/** What is made from what. */
export interface CaptureOptInOptions {
  /** Where wishes are. */
  readonly store: ByteStore
  /** How long a captured body can be seen, in milliseconds. */
  readonly keepMs: number
  /** To processes that have a store of their own; `undefined`: there are none, or all share one. */
  readonly channel?: Channel | undefined
  readonly clock: Clock
  readonly log: Log
}

const wish = z.object({ userId: z.string(), forMs: z.int().min(0) })

interface Known {
  /** Milliseconds since 1970; 0: not wished. */
  readonly untilMs: number
  readonly askedAtMs: number
}

/** Which accounts want bodies of their requests kept, and until when. */
export class CaptureOptIns {
  readonly keepMs: number
  readonly #options: CaptureOptInOptions
  readonly #known = new LRUCache<string, Known>(entryLimit(MOST_KNOWN))
  readonly #asking = new Set<string>()

  constructor(options: CaptureOptInOptions) {
    this.#options = options
    this.keepMs = options.keepMs
    options.channel?.subscribe(TOPIC, (text) => {
      const told = readText(wish, text)
      if (told !== undefined) this.#put(told.userId, told.forMs).catch((error: unknown) => this.#tell(error))
    })
  }

  /** Whether an account wants it, as far as that is known at once. */
  isWanted(userId: string | undefined): boolean {
    if (userId === undefined) return false
    const nowMs = this.#options.clock.nowMs()
    const known = this.#known.get(userId)
    if (known === undefined || nowMs - known.askedAtMs > KNOWN_FOR_MS) this.#learn(userId)
    return known !== undefined && known.untilMs > nowMs
  }

  /** Until when bodies are kept; `undefined`: they are not. Throws when the store cannot be asked. */
  async untilMs(userId: string): Promise<number | undefined> {
    const bytes = await this.#options.store.get(userId)
    const nowMs = this.#options.clock.nowMs()
    const untilMs = bytes === undefined ? 0 : Number(bytes.toString())
    this.#known.set(userId, { untilMs, askedAtMs: nowMs })
    return untilMs > nowMs ? untilMs : undefined
  }

  /** Keeps bodies for so long from now; 0 ends it. Resolves with the end. */
  async set(userId: string, forMs: number): Promise<number | undefined> {
    await this.#options.channel?.publish(TOPIC, JSON.stringify({ userId, forMs }))
    return this.#put(userId, forMs)
  }

  async #put(userId: string, forMs: number): Promise<number | undefined> {
    const { store, clock } = this.#options
    const untilMs = clock.nowMs() + forMs
    if (forMs === 0) await store.delete(userId)
    else await store.set(userId, Buffer.from(String(untilMs)), forMs)
    return this.untilMs(userId)
  }

  #learn(userId: string): void {
    if (this.#asking.has(userId)) return
    this.#asking.add(userId)
    this.untilMs(userId)
      .catch((error: unknown) => this.#tell(error))
      .finally(() => this.#asking.delete(userId))
  }

  #tell(error: unknown): void {
    this.#options.log.debug({ reason: messageOf(error) }, 'capture.wish-unknown')
  }
}

/** Keeps what was said in a byte store, which other instances may share. What cannot be kept is told in the log. */
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
      // Safe: `put` alone writes here.
      return bytes === undefined ? undefined : (deserialize(bytes) as CapturedRequest)
    },
  }
}
