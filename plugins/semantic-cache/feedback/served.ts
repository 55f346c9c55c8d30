import { type Log, z } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'

/** What was given to whom, for whoever says later that it was wrong. */
const servedSchema = z.object({
  /** The caller's. */
  owner: z.string(),
  scope: z.string(),
  /** Of the answer, and of the one that it was taken from. */
  keys: z.array(z.string()),
  entry: z.string(),
  /** What has been said of it. */
  verdict: z.enum(['right', 'wrong']).optional(),
})

/** An answer that was given from the cache. */
export type Served = z.output<typeof servedSchema>

/** Begins the keys of what was given to whom; no key of an answer begins so. */
export const SERVED_PREFIX = 'served '
const KEPT_MS = 24 * 3_600_000

/** Answers that were given, by the request's id, for a day: on every instance that shares the store. */
export class ServedAnswers {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Remembers an answer; when the store fails, nothing can be said of it later. */
  remember(requestId: string, served: Served): void {
    this.#store.set(SERVED_PREFIX + requestId, Buffer.from(JSON.stringify(served)), KEPT_MS).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'cache.unreachable')
    })
  }

  /** What a request was given. Rejects when the store does not answer. */
  async find(requestId: string): Promise<Served | undefined> {
    const bytes = await this.#store.get(SERVED_PREFIX + requestId)
    return bytes === undefined ? undefined : servedSchema.safeParse(JSON.parse(bytes.toString())).data
  }
}
