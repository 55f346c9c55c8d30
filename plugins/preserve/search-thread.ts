import { GatewayError, type Log } from 'turnpike/plugin'
import { ThreadHost } from 'turnpike/plugin/thread'
import type { Search, SearchResult } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
/** A search ends by itself long before. */
const HANG_MS = 30_000
/** Some expressions make many states of one text: the thread ends, and not the gateway. */
const MOST_MEMORY_MB = 256

/** The thread that searches, one after another. It is started by the first search, and again when it has died. */
export class SearchThread {
  readonly #host: ThreadHost<Search, SearchResult>

  /** `program` is the thread's; tests give a broken one. */
  constructor(log: Log, program: URL = WORKER) {
    this.#host = new ThreadHost({
      program,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
      absent: () =>
        new GatewayError('service_unavailable', 'Module `preserve`: the thread of regular expressions has ended.'),
      onError: (error) => log.error({ reason: String(error) }, 'preserve.thread-failed'),
    })
  }

  /** Searches, after the search before has ended. Rejects with `service_unavailable` when the thread dies or hangs. */
  search(search: Search): Promise<SearchResult> {
    return this.#host.ask(search, { timeoutMs: HANG_MS })
  }

  close(): Promise<void> {
    return this.#host.close()
  }
}
