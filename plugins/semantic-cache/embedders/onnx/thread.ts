import { Worker } from 'node:worker_threads'
import type { Log } from 'turnpike/plugin'
import { EmbedderFault } from '../../embedder.ts'
import type { FromModel, ModelStart, ToModel } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
const DEFAULT_HANG_MS = 5000
/** More would come too late whatever they take. */
const MOST_WAITING = 32

interface Waiting {
  readonly text: string
  readonly answer: PromiseWithResolvers<Int8Array>
}

/** What a thread is made from. */
export interface ThreadOptions {
  readonly start: ModelStart
  readonly log: Log
  /** The thread's program; tests give a broken one. */
  readonly program?: URL | undefined
  /** How long a text may take before the thread is ended. */
  readonly hangMs?: number | undefined
}

/** What is known of a model that runs. */
export type Ready = Extract<FromModel, { kind: 'ready' }>

/** A thread that has a model, and the texts that wait for it. One that dies, or hangs, is started anew, with longer and longer pauses. */
export class ModelThread {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  /** The first is with the thread. */
  readonly #waiting: Waiting[] = []
  #hangTimer: NodeJS.Timeout | undefined
  #restart: NodeJS.Timeout | undefined
  #pauseMs = FIRST_PAUSE_MS
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Starts the thread and loads the model; rejects with what is wrong with it. */
  async open(): Promise<Ready> {
    const { start, program = WORKER } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Ready>()
    const worker = new Worker(program, { workerData: start })
    worker.on('message', (message: FromModel) => {
      if (message.kind === 'failed') return reject(new Error(message.message))
      if (message.kind !== 'ready') return this.#settle(message)
      this.#worker = worker
      resolve(message)
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

  /** Embeds a text when its turn comes. Rejects with `EmbedderFault`. */
  async embed(text: string): Promise<Int8Array> {
    if (this.#worker === undefined) throw gone()
    if (this.#waiting.length >= MOST_WAITING)
      throw new EmbedderFault('embedder-busy', `${this.#waiting.length} texts wait for the model.`)
    const answer = Promise.withResolvers<Int8Array>()
    this.#waiting.push({ text, answer })
    if (this.#waiting.length === 1) this.#sendFirst()
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
    clearTimeout(this.#hangTimer)
    const answered = this.#waiting.shift()
    if (message.kind === 'vector') answered?.answer.resolve(message.vector)
    else answered?.answer.reject(new EmbedderFault('embedder-fault', message.message))
    this.#sendFirst()
  }

  #sendFirst(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#worker?.postMessage({ text: first.text } satisfies ToModel)
    this.#hangTimer = setTimeout(() => void this.end(), this.#options.hangMs ?? DEFAULT_HANG_MS)
  }

  #lose(): void {
    this.#worker = undefined
    clearTimeout(this.#hangTimer)
    for (const { answer } of this.#waiting.splice(0)) answer.reject(gone())
    if (this.#isClosed) return
    this.#options.log.warn({ restartAfterMs: this.#pauseMs }, 'embedder.lost')
    this.#startLater()
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

function gone(): EmbedderFault {
  return new EmbedderFault('embedder-gone', 'No thread has the model at the moment.')
}
