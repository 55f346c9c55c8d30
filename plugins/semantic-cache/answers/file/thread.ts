import { Worker } from 'node:worker_threads'
import type { Log } from 'turnpike/plugin'
import type { FileAnswer, FileStart, FromFile, OperationName, Operations, ToFile } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
/** What a request waits for must come soon, or the request goes on without. */
const DEADLINE_MS = 250
const IN_REQUESTS: ReadonlySet<OperationName> = new Set(['get'])
/** For what is written behind a request's back, for commands, and while the thread starts. */
const PATIENT_DEADLINE_MS = 5000
const RESTART_AFTER_MS = 500
const STOP_WITHIN_MS = 2000
const TELL_EVERY_MS = 60_000
/** Others are refused: a disk that hangs must not fill the memory with what waits for it. */
const MOST_WAITING = 10_000

interface Waiting {
  readonly name: OperationName
  readonly input: unknown
  readonly settled: PromiseWithResolvers<unknown>
}

/** The thread that has the file. What is asked while it is at work goes as the next batch. One that dies is started anew. */
export class FileThread {
  readonly #start: FileStart
  readonly #log: Log
  #worker: Worker | undefined
  #isReady = false
  #waiting: Waiting[] = []
  #underWay: readonly Waiting[] | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false
  #tellAtMs = 0

  constructor(start: FileStart, log: Log) {
    this.#start = start
    this.#log = log
    this.#startWorker()
  }

  /** Asks the thread; rejects when it does not answer in time. */
  async ask<Name extends OperationName>(
    name: Name,
    input: Parameters<Operations[Name]>[0],
  ): Promise<ReturnType<Operations[Name]>> {
    if (this.#isClosed || this.#worker === undefined) throw new Error('the thread of answers is not running')
    if (this.#waiting.length >= MOST_WAITING) throw new Error('too much waits for the file of answers')
    const settled = Promise.withResolvers<unknown>()
    this.#waiting.push({ name, input, settled })
    this.#sendNext()
    const deadlineMs = this.#isReady && IN_REQUESTS.has(name) ? DEADLINE_MS : PATIENT_DEADLINE_MS
    const timer = setTimeout(() => settled.reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs)
    try {
      // Safe: the thread answers each operation with what it gives.
      return (await settled.promise) as ReturnType<Operations[Name]>
    } finally {
      clearTimeout(timer)
    }
  }

  /** Lets the thread finish what waits, and ends it if it does not. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.ref()
    const timer = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS)
    await Promise.race([Promise.allSettled(this.#all().map(({ settled }) => settled.promise)), ended])
    worker.postMessage({ kind: 'close' } satisfies ToFile)
    await ended
    clearTimeout(timer)
  }

  #startWorker(): void {
    const worker = new Worker(WORKER, { workerData: this.#start })
    this.#worker = worker
    worker.on('message', (message: FromFile) => this.#hear(message))
    worker.on('error', (error) => this.#log.error({ reason: String(error) }, 'entries.thread-failed'))
    worker.once('exit', () => this.#lose())
    worker.unref()
  }

  #hear(message: FromFile): void {
    const { setAside } = message
    if (setAside !== undefined) this.#log.error({ setAside }, 'entries.damaged')
    if (message.kind === 'answers') this.#settle(message.answers)
    else this.#isReady = true
    this.#sendNext()
  }

  #sendNext(): void {
    if (!this.#isReady || this.#underWay !== undefined || this.#waiting.length === 0) return
    this.#underWay = this.#waiting
    this.#waiting = []
    const asked = this.#underWay.map(({ name, input }) => ({ name, input }))
    this.#worker?.postMessage({ kind: 'batch', asked } satisfies ToFile)
  }

  #settle(answers: readonly FileAnswer[]): void {
    const asked = this.#underWay ?? []
    this.#underWay = undefined
    for (const [i, { settled }] of asked.entries()) {
      const answer = answers[i]
      if (answer !== undefined && 'output' in answer) settled.resolve(answer.output)
      else settled.reject(new Error(answer?.fault ?? 'no answer'))
    }
    const fault = answers.find((answer) => 'fault' in answer)?.fault
    if (fault !== undefined) this.#tellFault(fault)
    this.#sendNext()
  }

  /** A disk that is full fails each time, and is told now and then. */
  #tellFault(reason: string): void {
    if (performance.now() < this.#tellAtMs) return
    this.#tellAtMs = performance.now() + TELL_EVERY_MS
    this.#log.warn({ reason }, 'entries.failed')
  }

  #lose(): void {
    for (const { settled } of this.#all()) settled.reject(new Error('the thread of answers has ended'))
    this.#worker = undefined
    this.#isReady = false
    this.#underWay = undefined
    this.#waiting = []
    if (this.#isClosed) return
    this.#log.error({}, 'entries.thread-ended')
    this.#restart = setTimeout(() => this.#startWorker(), RESTART_AFTER_MS)
    this.#restart.unref()
  }

  #all(): readonly Waiting[] {
    return [...(this.#underWay ?? []), ...this.#waiting]
  }
}
