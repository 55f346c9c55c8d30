import { GatewayError, type Log } from 'turnpike/plugin'
import { ThreadHost } from 'turnpike/plugin/thread'
import type { Search, SearchResult } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
/** Time limit of a hung search; others end long before. */
const HANG_MS = 30_000
/** Memory limit: some expressions create many states of one text; the thread ends, not the gateway. */
const MOST_MEMORY_MB = 256

/** Thread that runs searches one after another. It starts with the first search, and again after it has ended. */
export class SearchThread {
  readonly #host: ThreadHost<Search, SearchResult>

  /** `program` is the thread's; tests pass a broken one. */
  constructor(log: Log, program: URL = WORKER) {
    this.#host = new ThreadHost({
      program,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
      absent: () =>
        new GatewayError('service_unavailable', 'Module `preserve`: the thread of regular expressions has ended.'),
      onError: (error) => log.error({ reason: String(error) }, 'preserve.thread-failed'),
    })
  }

  /** Runs a search after the previous one. Rejects with `service_unavailable` when the thread ends or hangs. */
  search(search: Search): Promise<SearchResult> {
    return this.#host.ask(search, { timeoutMs: HANG_MS })
  }

  close(): Promise<void> {
    return this.#host.close()
  }
}
