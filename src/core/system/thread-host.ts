import { type ResourceLimits, Worker } from 'node:worker_threads'

/**
 * DESIGN: a program in a thread, which answers questions
 *
 *   ask() ──► one question at a time ──► program ──► answer
 *                                           │ ends, or is ended: the question is rejected
 *                                           └──► started anew, after a pause or for the next question
 *
 * Guarantees: a question is answered or rejected; the program closes what it has before its thread ends, unless it takes
 * longer than two seconds. Limits: what waits for its turn is with the caller, who bounds it and may put it together.
 */
const STOP_WITHIN_MS = 2000

/** Messages to the program. After `close` it lets go of what it has, and of its port. */
export type ToThread<Question> = { readonly kind: 'ask'; readonly question: Question } | { readonly kind: 'close' }

/** Messages of the program: `ready` or `failed` first, then an answer to each question. */
export type FromThread<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: unknown }
  | { readonly kind: 'answer'; readonly answer: Answer }

/** Why a thread does not answer. */
export type Absence = 'ended' | 'restarting' | 'closed'

/** Input of `ThreadHost`. */
export interface ThreadHostOptions {
  readonly program: URL
  /** The program's `workerData`. */
  readonly start?: unknown
  readonly resourceLimits?: ResourceLimits
  /** Pause before a thread that ended is started anew, in milliseconds; unset: it is started for the next question. */
  readonly restartAfterMs?: number
  /** The error of questions that are not answered. */
  readonly absent: (why: Absence) => Error
  /** The error of a program that cannot start, from the `fault` that it sent. Default: its text. */
  readonly toError?: (fault: unknown) => unknown
  /** Called for an exception that ends the thread. */
  readonly onError?: (error: unknown) => void
  /** Called when a thread has ended that was not closed. */
  readonly onEnd?: () => void
  /** Called after each try to start anew, with the error of one that failed. */
  readonly onRestart?: (error: unknown) => void
}

/** Runs a program in a thread, and starts it anew when it has ended. */
export class ThreadHost<Question, Answer> {
  readonly #options: ThreadHostOptions
  #worker: Worker | undefined
  #started: PromiseWithResolvers<void> | undefined
  #isReady = false
  #answer: PromiseWithResolvers<Answer> | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ThreadHostOptions) {
    this.#options = options
  }

  /** Starts the thread. Rejects with what is wrong with it; it is then started anew, until `close`. */
  start(): Promise<void> {
    if (this.#started !== undefined) return this.#started.promise
    const { program, start, resourceLimits } = this.#options
    const started = Promise.withResolvers<void>()
    const worker = new Worker(program, { workerData: start, ...(resourceLimits && { resourceLimits }) })
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
   * Asks a question, after the one before was answered. Rejects while the thread is started anew, and when it ends.
   * A thread that has not answered after `timeoutMs` is ended.
   */
  async ask(question: Question, { timeoutMs }: { timeoutMs?: number } = {}): Promise<Answer> {
    if (this.#answer !== undefined) throw new Error('A thread answers one question at a time.')
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

  /** Ends the thread, which is then started anew. */
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

  /** A program that still starts reads it as soon as it listens. */
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

  #fail(fault: unknown): void {
    const { toError = (text) => new Error(String(text)) } = this.#options
    this.#started?.reject(toError(fault))
    void this.end()
  }

  #lose(): void {
    const { absent, restartAfterMs, onEnd } = this.#options
    this.#started?.reject(absent('ended'))
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
