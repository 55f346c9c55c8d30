import { setFlagsFromString } from 'node:v8'
import { type ResourceLimits, Worker } from 'node:worker_threads'

/**
 * DESIGN: runs a program in a thread, which answers calls
 *
 *   ask() ──► one call at a time ──► program ──► result
 *                                           │ ends, or is ended: the call is rejected
 *                                           └──► restarted, after a delay or for the next call
 *
 * Guarantees: a call is answered or rejected; the program closes its resources before its thread ends, unless it takes
 * longer than ten seconds. Limits: there is no queue; the caller queues, bounds and batches its calls.
 */
/** Long, since V8 aborts the process when a thread is terminated while it ends by itself, as a busy machine lets it. */
const STOP_WITHIN_MS = 10_000
/**
 * A thread's garbage is of one call: with the usual space for new objects it holds 15 MB more, and takes as much CPU. V8
 * ignores a thread's own limit when the process was started with one, and reads this flag for each new thread.
 */
const SPACE_FOR_NEW_OBJECTS = '--max-semi-space-size=2'

/** Messages to the program. After `close` it releases its resources and its port. */
export type ToThread<Question> = { readonly kind: 'ask'; readonly question: Question } | { readonly kind: 'close' }

/** Messages of the program: `ready` or `failed` first, then a result for each call. */
export type FromThread<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: unknown }
  | { readonly kind: 'answer'; readonly answer: Answer }

/** Reason why a thread does not answer. */
export type Absence = 'ended' | 'restarting' | 'closed'

/** Input of `ThreadHost`. */
export interface ThreadHostOptions {
  readonly program: URL
  /** The program's `workerData`. */
  readonly start?: unknown
  readonly resourceLimits?: ResourceLimits
  /** Delay before a thread that ended is restarted, in milliseconds; unset: it is restarted for the next call. */
  readonly restartAfterMs?: number
  /** Makes the error of calls that are not answered. */
  readonly absent: (why: Absence) => Error
  /** Makes the error of a program that cannot start, from the `fault` that it sent. Default: its text. */
  readonly toError?: (fault: unknown) => unknown
  /** Called for an exception that ends the thread. */
  readonly onError?: (error: unknown) => void
  /** Called when a thread has ended that was not closed. */
  readonly onEnd?: () => void
  /** Called after each restart, with the error of a failed one. */
  readonly onRestart?: (error: unknown) => void
}

/** Runs a program in a thread, and restarts it when it has ended. */
export class ThreadHost<Question, Answer> {
  readonly #options: ThreadHostOptions
  #worker: Worker | undefined
  #started: PromiseWithResolvers<void> | undefined
  #isReady = false
  /** Set when the program could not start, until its thread has ended. */
  #failure: { readonly error: unknown } | undefined
  #endTimer: NodeJS.Timeout | undefined
  #answer: PromiseWithResolvers<Answer> | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ThreadHostOptions) {
    this.#options = options
  }

  /** Starts the thread. Rejects with its error when it fails; it is then restarted, until `close`. */
  start(): Promise<void> {
    if (this.#started !== undefined) return this.#started.promise
    const { program, start, resourceLimits } = this.#options
    const started = Promise.withResolvers<void>()
    setFlagsFromString(SPACE_FOR_NEW_OBJECTS)
    const worker = new Worker(program, { workerData: start, resourceLimits })
    worker.on('message', (message: FromThread<Answer>) => this.#receive(message))
    worker.on('error', (error) => {
      started.reject(error)
      this.#options.onError?.(error)
    })
    worker.once('exit', () => this.#lose())
    this.#worker = worker
    this.#started = started
    return started.promise
  }

  /**
   * Calls the program, after the call before was answered. Rejects while the thread restarts, and when it ends.
   * A thread that has not answered after `timeoutMs` is ended.
   */
  async ask(question: Question, { timeoutMs }: { timeoutMs?: number } = {}): Promise<Answer> {
    if (this.#answer !== undefined) throw new Error('A thread answers one call at a time.')
    if (this.#isClosed) throw this.#options.absent('closed')
    if (!this.#isReady && this.#options.restartAfterMs !== undefined) throw this.#options.absent('restarting')
    const answer = Promise.withResolvers<Answer>()
    this.#answer = answer
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => void this.end(), timeoutMs)
    if (!this.#isReady) this.start().catch((error: unknown) => answer.reject(error))
    this.#worker?.ref()
    this.#post({ kind: 'ask', question })
    try {
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#answer = undefined
      this.#worker?.unref()
    }
  }

  /** Ends the thread, which is then restarted. */
  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Lets the program finish, and ends the thread if it does not. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = Promise.withResolvers<void>()
    worker.once('exit', () => ended.resolve())
    worker.ref()
    this.#post({ kind: 'close' })
    const timer = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS)
    await ended.promise
    clearTimeout(timer)
  }

  /** Posts a message; a program that still starts reads it as soon as it listens. */
  #post(message: ToThread<Question>): void {
    this.#worker?.postMessage(message)
  }

  #receive(message: FromThread<Answer>): void {
    if (message.kind === 'answer') this.#answer?.resolve(message.answer)
    else if (message.kind === 'failed') this.#fail(message.fault)
    else this.#begin()
  }

  #begin(): void {
    this.#isReady = true
    if (this.#answer === undefined) this.#worker?.unref()
    this.#started?.resolve()
  }

  /** Notes why a program cannot start. It ends by itself; then `start` rejects, so that no thread outlives its host. */
  #fail(fault: unknown): void {
    const { toError = (text) => new Error(String(text)) } = this.#options
    this.#failure = { error: toError(fault) }
    this.#endTimer = setTimeout(() => void this.end(), STOP_WITHIN_MS)
  }

  #lose(): void {
    const { absent, restartAfterMs, onEnd } = this.#options
    clearTimeout(this.#endTimer)
    this.#started?.reject(this.#failure ? this.#failure.error : absent('ended'))
    this.#failure = undefined
    this.#worker = undefined
    this.#started = undefined
    this.#isReady = false
    this.#answer?.reject(absent('ended'))
    if (this.#isClosed) return
    onEnd?.()
    if (restartAfterMs === undefined) return
    this.#restart = setTimeout(() => void this.#startAnew(), restartAfterMs)
  }

  async #startAnew(): Promise<void> {
    try {
      await this.start()
      this.#options.onRestart?.(undefined)
    } catch (error) {
      this.#options.onRestart?.(error)
    }
  }
}
