import type { Log } from 'turnpike/plugin'
import { ThreadHost } from 'turnpike/plugin/thread'
import type { Batch, BatchAnswer, FileAnswer, FileStart, OperationName, Operations } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
/** Deadline of operations that a request waits for; beyond it the request continues without. */
const DEADLINE_MS = 250
const IN_REQUESTS: ReadonlySet<OperationName> = new Set(['get'])
/** Deadline for writes after the reply, and while the thread starts. */
const PATIENT_DEADLINE_MS = 5000
/** Deadline of commands, where a person waits: a busy machine is no fault. */
const COMMAND_DEADLINE_MS = 30_000
const IN_COMMANDS: ReadonlySet<OperationName> = new Set(['list', 'evict'])
const RESTART_AFTER_MS = 500
const FINISH_WITHIN_MS = 2000
const LOG_EVERY_MS = 60_000
/** Most queued operations; others are refused: a hung disk must not fill the memory. */
const MOST_WAITING = 10_000

interface Waiting {
  readonly name: OperationName
  readonly input: unknown
  readonly settled: PromiseWithResolvers<unknown>
}

/** Thread that owns the file. Operations that arrive while it works form the next batch. */
export class FileThread {
  readonly #host: ThreadHost<Batch, BatchAnswer>
  readonly #log: Log
  #state: 'starting' | 'ready' | 'gone' = 'starting'
  #waiting: Waiting[] = []
  /** Resolves when the queue is empty. */
  #sending: Promise<void> | undefined
  #isClosed = false
  #logAgainAtMs = 0

  constructor(start: FileStart, log: Log) {
    this.#log = log
    this.#host = new ThreadHost({
      program: WORKER,
      start,
      restartAfterMs: RESTART_AFTER_MS,
      absent: (why) => new Error(`the thread of answers is not there: ${why}`),
      onError: (error) => log.error({ reason: String(error) }, 'entries.thread-failed'),
      onEnd: () => this.#lose(),
      onRestart: (error) => error === undefined && this.#begin(),
    })
    this.#host.start().then(
      () => this.#begin(),
      () => {}, // it is logged, and retried
    )
  }

  /** Calls the thread; rejects when it does not reply in time. */
  async ask<Name extends OperationName>(
    name: Name,
    input: Parameters<Operations[Name]>[0],
  ): Promise<ReturnType<Operations[Name]>> {
    if (this.#isClosed || this.#state === 'gone') throw new Error('the thread of answers is not running')
    if (this.#waiting.length >= MOST_WAITING) throw new Error('too much waits for the file of answers')
    const settled = Promise.withResolvers<unknown>()
    this.#waiting.push({ name, input, settled })
    this.#send()
    const deadlineMs = this.#deadlineOf(name)
    const timer = setTimeout(() => settled.reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs)
    try {
      // Safe: the thread replies to each operation with its result type.
      return (await settled.promise) as ReturnType<Operations[Name]>
    } finally {
      clearTimeout(timer)
    }
  }

  #deadlineOf(name: OperationName): number {
    if (IN_COMMANDS.has(name)) return COMMAND_DEADLINE_MS
    return this.#state === 'ready' && IN_REQUESTS.has(name) ? DEADLINE_MS : PATIENT_DEADLINE_MS
  }

  /** Drains the queue, or ends the thread at the deadline. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, FINISH_WITHIN_MS)
    await Promise.race([Promise.allSettled(this.#waiting.map(({ settled }) => settled.promise)), late])
    await Promise.race([this.#sending, late])
    clearTimeout(timer)
    await this.#host.close()
  }

  #begin(): void {
    this.#state = 'ready'
    this.#send()
  }

  #send(): void {
    if (this.#state !== 'ready') return
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        this.#settle(batch, await this.#host.ask(batch.map(({ name, input }) => ({ name, input }))))
      } catch (error) {
        for (const { settled } of batch) settled.reject(error)
      }
    }
  }

  #settle(batch: readonly Waiting[], { answers, setAside }: BatchAnswer): void {
    if (setAside !== undefined) this.#log.error({ setAside }, 'entries.damaged')
    for (const [i, { settled }] of batch.entries()) {
      const answer: FileAnswer = answers[i] ?? { fault: 'no answer' }
      if ('output' in answer) settled.resolve(answer.output)
      else settled.reject(new Error(answer.fault))
    }
    const fault = answers.find((answer) => 'fault' in answer)?.fault
    if (fault !== undefined) this.#logFault(fault)
  }

  /** Logs a fault at most once a minute: a full disk fails each time. */
  #logFault(reason: string): void {
    if (performance.now() < this.#logAgainAtMs) return
    this.#logAgainAtMs = performance.now() + LOG_EVERY_MS
    this.#log.warn({ reason }, 'entries.failed')
  }

  #lose(): void {
    this.#state = 'gone'
    for (const { settled } of this.#waiting.splice(0)) settled.reject(new Error('the thread of answers has ended'))
    this.#log.error({}, 'entries.thread-ended')
  }
}
