import { Worker } from 'node:worker_threads'
import type { Log } from 'turnpike/plugin'
import { EmbedderFault } from '../../embedder.ts'
import type { FromModel, ModelStart, ToModel } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
const DEFAULT_HANG_MS = 5000

/** What a thread is made from. */
export interface ThreadOptions {
  readonly start: ModelStart
  readonly log: Log
  /** Called whenever the thread has become free. */
  readonly onFree: () => void
  /** The thread's program; tests give a broken one. */
  readonly program?: URL | undefined
  /** How long a text may take before the thread is ended. */
  readonly hangMs?: number | undefined
}

/** What is known of a model that runs. */
export type Ready = Extract<FromModel, { kind: 'ready' }>

/** A thread that has a model. One that dies, or hangs, is started anew, with longer and longer pauses. */
export class ModelThread {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #answer: PromiseWithResolvers<Int8Array> | undefined
  #hangTimer: NodeJS.Timeout | undefined
  #restart: NodeJS.Timeout | undefined
  #pauseMs = FIRST_PAUSE_MS
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  get isAlive(): boolean {
    return this.#worker !== undefined
  }

  get isFree(): boolean {
    return this.isAlive && this.#answer === undefined
  }

  /** Starts the thread and loads the model; rejects with what is wrong with it. */
  async open(): Promise<Ready> {
    const { start, program = WORKER, onFree } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Ready>()
    const worker = new Worker(program, { workerData: start })
    worker.on('message', (message: FromModel) => {
      if (message.kind === 'failed') return reject(new Error(message.message))
      if (message.kind !== 'ready') return this.#settle(message)
      this.#worker = worker
      resolve(message)
      onFree()
    })
    worker.on('error', reject)
    worker.once('exit', () => {
      reject(new Error('the thread has ended'))
      if (this.#worker === worker) this.#lose()
    })
    try {
      return await promise
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  /** Embeds a text; the thread must be free. Rejects with `EmbedderFault`. */
  embed(text: string): Promise<Int8Array> {
    const answer = Promise.withResolvers<Int8Array>()
    this.#answer = answer
    const message: ToModel = { text }
    this.#worker?.postMessage(message)
    this.#hangTimer = setTimeout(() => void this.end(), this.#options.hangMs ?? DEFAULT_HANG_MS)
    return answer.promise
  }

  /** Ends a thread that does not answer; another is started. */
  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    await this.end()
  }

  #settle(message: Extract<FromModel, { kind: 'vector' | 'fault' }>): void {
    this.#pauseMs = FIRST_PAUSE_MS
    const answer = this.#take()
    if (message.kind === 'vector') answer?.resolve(message.vector)
    else answer?.reject(new EmbedderFault('embedder-fault', message.message))
    this.#options.onFree()
  }

  #take(): PromiseWithResolvers<Int8Array> | undefined {
    clearTimeout(this.#hangTimer)
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }

  #lose(): void {
    this.#worker = undefined
    this.#take()?.reject(new EmbedderFault('embedder-gone', 'The model’s thread has ended.'))
    if (this.#isClosed) return
    this.#options.log.warn({ restartAfterMs: this.#pauseMs }, 'embedder.lost')
    this.#startLater()
    this.#options.onFree()
  }

  #startLater(): void {
    this.#restart = setTimeout(() => void this.#startAgain(), this.#pauseMs)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
  }

  async #startAgain(): Promise<void> {
    const { log } = this.#options
    try {
      await this.open()
      log.info({}, 'embedder.restarted')
      if (this.#isClosed) await this.end()
    } catch (error) {
      log.error({ err: error }, 'embedder.failed')
      if (!this.#isClosed) this.#startLater()
    }
  }
}
