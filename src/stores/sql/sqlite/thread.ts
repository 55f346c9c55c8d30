import { Worker } from 'node:worker_threads'
import { messageOf, messageWithCause } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import { toError, unavailable } from '../engine/faults.ts'
import type { TableSetName } from '../migrations.ts'
import type { Group, Outcome } from './group.ts'
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts'

const RESTART_AFTER_MS = 500
const STOP_WITHIN_MS = 2000
const WORKER = new URL('./worker.ts', import.meta.url)

/** What a thread is made from. */
export interface ThreadOptions {
  readonly file: string
  /** What the file holds; default `accounts`. */
  readonly tables?: TableSetName | undefined
  readonly log: Log
  /** The thread's program; tests give a broken one. */
  readonly program?: URL | undefined
}

type Answer = PromiseWithResolvers<readonly Outcome[]>

/** The thread that has the database. One that dies is started anew; until then every question is refused. */
export class SqliteThread {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #answer: Answer | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Starts the thread; rejects with what is wrong with the database. */
  start(): Promise<void> {
    const { file, tables = 'accounts', program = WORKER } = this.#options
    const started = Promise.withResolvers<void>()
    const workerData: WorkerStart = { file, tables }
    const worker = new Worker(program, { workerData })
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'failed') started.reject(toError(message.fault))
      if (message.kind === 'outcomes') this.#settle((answer) => answer.resolve(message.outcomes))
      if (message.kind !== 'ready') return
      this.#worker = worker
      started.resolve()
    })
    worker.on('error', (error) => started.reject(error))
    worker.on('error', (error) => this.#options.log.error({ reason: messageOf(error) }, 'store.thread-failed'))
    worker.once('exit', () => {
      started.reject(unavailable('The database’s thread has ended.'))
      if (this.#worker === worker) this.#lose()
    })
    return started.promise
  }

  /** Asks for one group, after the one before was answered. Rejects at once while there is no thread, or when it dies. */
  ask(group: Group): Promise<readonly Outcome[]> {
    if (this.#worker === undefined) return Promise.reject(unavailable('The database is being opened again.'))
    this.#answer = Promise.withResolvers()
    this.#send({ kind: 'group', group })
    return this.#answer.promise
  }

  /** Ends a thread that does not answer; another is started. */
  async giveUp(): Promise<void> {
    this.#options.log.error({}, 'store.thread-hangs')
    await this.#worker?.terminate()
  }

  /** Lets the thread close the database, and ends it if it does not. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    this.#send({ kind: 'close' })
    const timer = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS)
    await ended
    clearTimeout(timer)
  }

  #send(message: ToWorker): void {
    this.#worker?.postMessage(message)
  }

  #settle(tell: (answer: Answer) => void): void {
    const answer = this.#answer
    this.#answer = undefined
    if (answer !== undefined) tell(answer)
  }

  #lose(): void {
    this.#worker = undefined
    this.#settle((answer) => answer.reject(unavailable('The database’s thread has ended.')))
    this.#startLater()
  }

  #startLater(): void {
    if (this.#isClosed) return
    this.#restart = setTimeout(() => {
      this.start().then(
        () => this.#options.log.warn({}, 'store.thread-restarted'),
        (error: unknown) => {
          this.#options.log.error({ reason: messageWithCause(error) }, 'store.failed')
          this.#startLater()
        },
      )
    }, RESTART_AFTER_MS)
  }
}
