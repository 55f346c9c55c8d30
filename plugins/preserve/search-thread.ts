import { Worker } from 'node:worker_threads'
import { GatewayError, type Log } from 'turnpike/plugin'
import type { Search, SearchResult } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
/** A search ends by itself long before. */
const HANG_MS = 30_000
/** Some expressions make many states of one text: the thread ends, and not the gateway. */
const MOST_MEMORY_MB = 256

/** The thread that searches, one after another. It is started by the first search, and again when it has died. */
export class SearchThread {
  readonly #log: Log
  readonly #program: URL
  #worker: Worker | undefined
  #result: PromiseWithResolvers<SearchResult> | undefined

  /** `program` is the thread's; tests give a broken one. */
  constructor(log: Log, program: URL = WORKER) {
    this.#log = log
    this.#program = program
  }

  /** Searches, after the search before has ended. Rejects with `service_unavailable` when the thread dies or hangs. */
  async search(search: Search): Promise<SearchResult> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#result = Promise.withResolvers()
    const timer = setTimeout(() => void worker.terminate(), HANG_MS)
    worker.ref()
    try {
      worker.postMessage(search)
      return await this.#result.promise
    } finally {
      clearTimeout(timer)
      worker.unref()
      this.#result = undefined
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB } })
    worker.on('message', (result: SearchResult) => this.#result?.resolve(result))
    worker.on('error', (error) => this.#log.error({ reason: String(error) }, 'preserve.thread-failed'))
    worker.once('exit', () => {
      this.#worker = undefined
      this.#result?.reject(
        new GatewayError('service_unavailable', 'Module `preserve`: the thread of regular expressions has ended.'),
      )
    })
    return worker
  }
}
