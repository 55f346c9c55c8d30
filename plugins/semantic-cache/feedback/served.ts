import { type Log, z } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'

/** Schema of a served answer, kept for later feedback. */
const servedSchema = z.object({
  /** Caller's scope. */
  owner: z.string(),
  scope: z.string(),
  /** Keys of the answer, and of the one that it was taken from. */
  keys: z.array(z.string()),
  entry: z.string(),
  /** Verdict, once there is one. */
  verdict: z.enum(['right', 'wrong']).optional(),
})

/** Answer served from the cache. */
export type Served = z.output<typeof servedSchema>

/** Prefix of the keys of served answers; no key of an answer begins with it. */
export const SERVED_PREFIX = 'served '
const KEPT_MS = 24 * 3_600_000

/** Served answers by request id, for a day: on every instance that shares the store. */
export class ServedAnswers {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Records a served answer; when the store fails, feedback on it is impossible. */
  remember(requestId: string, served: Served): void {
    this.#store.set(SERVED_PREFIX + requestId, Buffer.from(JSON.stringify(served)), KEPT_MS).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'cache.unreachable')
    })
  }

  /** Returns a request's served answer. Rejects when the store fails. */
  async find(requestId: string): Promise<Served | undefined> {
    const bytes = await this.#store.get(SERVED_PREFIX + requestId)
    return bytes === undefined ? undefined : servedSchema.safeParse(JSON.parse(bytes.toString())).data
  }
}
