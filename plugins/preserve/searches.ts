import type { RE2JS } from 're2js'
import { type Clock, GatewayError, type Log } from 'turnpike/plugin'
import { abortable } from 'turnpike/plugin/thread'
import { CpuBudget, threadCpuMs } from './cpu-budget.ts'
import { compile, Refusal } from './expression.ts'
import type { Match } from './matches.ts'
import type { Search, SearchResult } from './protocol.ts'
import { SearchThread } from './search-thread.ts'
import { searchShortly } from './short-search.ts'

const PER_CALLER = { share: 0.02, burstMs: 500 }
/** Budget of all callers together on the loop: beyond it short searches use the thread, too. */
const ON_LOOP = { share: 0.1, burstMs: 200 }
/** Budget of all callers together in the thread: beyond it searches wait. */
const IN_THREAD = { share: 0.5, burstMs: 2000 }
const ALL = 'all'

const LONGEST_WAIT_MS = 5000
const MOST_WAITING = 1000
const MOST_WAITING_PER_CALLER = 20

/** Caller and signal of a search. */
export interface Searcher {
  readonly scope: string
  readonly signal: AbortSignal
}

interface Job extends Search {
  readonly scope: string
  readonly settled: PromiseWithResolvers<Match[][]>
  /** Ends the wait for the thread. */
  readonly timer: NodeJS.Timeout
}

/** Dependencies of searches. */
export interface SearchesOptions {
  readonly clock: Clock
  readonly log: Log
  /** Operator's expressions, compiled once. Throws `Refusal` for an invalid one. */
  readonly operators: readonly string[]
  readonly thread?: SearchThread
}

/** Searches texts for regular expressions, within the CPU budgets of each caller and of all callers. */
export class Searches {
  readonly #perCaller: CpuBudget
  readonly #onLoop: CpuBudget
  readonly #inThread: CpuBudget
  readonly #operators: ReadonlyMap<string, RE2JS>
  /** Oldest first. */
  readonly #waiting: Job[] = []
  readonly #thread: SearchThread
  #isSearching = false
  #pause: NodeJS.Timeout | undefined

  constructor({ clock, log, operators, thread = new SearchThread(log) }: SearchesOptions) {
    this.#perCaller = new CpuBudget(clock, PER_CALLER)
    this.#onLoop = new CpuBudget(clock, ON_LOOP)
    this.#inThread = new CpuBudget(clock, IN_THREAD)
    this.#operators = new Map(operators.map((source) => [source, compile(source)]))
    this.#thread = thread
  }

  /**
   * Finds the matches of a regular expression in each text. Rejects with `Refusal` for an invalid search,
   * `rate_limit_error` when the caller has used its CPU, `service_unavailable` when all callers have, and with the
   * signal's reason.
   */
  async find(texts: readonly string[], source: string, { scope, signal }: Searcher): Promise<Match[][]> {
    const waitMs = this.#perCaller.waitMs(scope)
    if (waitMs > 0) throw exhausted(waitMs)
    const found = this.#findNow(texts, source, scope)
    if (found !== undefined) return found
    this.#assertRoom(scope)
    const settled = Promise.withResolvers<Match[][]>()
    const timer = setTimeout(() => settled.reject(busy()), LONGEST_WAIT_MS)
    const job: Job = { texts, source, scope, settled, timer }
    this.#waiting.push(job)
    this.#searchNext()
    try {
      return await abortable(settled.promise, { signal })
    } finally {
      clearTimeout(timer)
      this.#remove(job)
    }
  }

  close(): Promise<void> {
    clearTimeout(this.#pause)
    return this.#thread.close()
  }

  #findNow(texts: readonly string[], source: string, scope: string): Match[][] | undefined {
    if (this.#onLoop.waitMs(ALL) > 0) return undefined
    const begunMs = threadCpuMs()
    try {
      return searchShortly(texts, source, { known: this.#operators.get(source) })
    } finally {
      const cpuMs = threadCpuMs() - begunMs
      this.#onLoop.charge(ALL, cpuMs)
      this.#perCaller.charge(scope, cpuMs)
    }
  }

  #assertRoom(scope: string): void {
    if (this.#waiting.length >= MOST_WAITING) throw busy()
    const own = this.#waiting.filter((job) => job.scope === scope)
    if (own.length >= MOST_WAITING_PER_CALLER) throw tooManyWaiting()
  }

  #searchNext(): void {
    if (this.#isSearching || this.#waiting.length === 0) return
    const pauseMs = this.#inThread.waitMs(ALL)
    clearTimeout(this.#pause)
    if (pauseMs > 0) {
      this.#pause = setTimeout(() => this.#searchNext(), pauseMs)
      return
    }
    const job = this.#takeAffordable()
    if (job !== undefined) void this.#search(job)
  }

  /** Removes the next job, the oldest of the caller that has used least CPU; refuses those of callers beyond their budget. */
  #takeAffordable(): Job | undefined {
    while (this.#waiting.length > 0) {
      const used = ({ scope }: Job) => this.#perCaller.usedMs(scope)
      const next = this.#waiting.reduce((least, job) => (used(job) < used(least) ? job : least))
      this.#remove(next)
      const waitMs = this.#perCaller.waitMs(next.scope)
      if (waitMs === 0) return next
      next.settled.reject(exhausted(waitMs))
    }
    return undefined
  }

  /** Removes a job that is begun or no longer needed. */
  #remove(job: Job): void {
    const index = this.#waiting.indexOf(job)
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  async #search({ texts, source, scope, settled, timer }: Job): Promise<void> {
    this.#isSearching = true
    clearTimeout(timer)
    const begunMs = performance.now()
    try {
      const result = await this.#send({ texts, source }, scope)
      this.#charge(scope, result.cpuMs)
      if (result.kind === 'found') settled.resolve(result.matches)
      else settled.reject(new Refusal(result.message))
    } catch (error) {
      // A search that crashes the thread is charged too.
      this.#charge(scope, performance.now() - begunMs)
      settled.reject(error)
    } finally {
      this.#isSearching = false
      this.#searchNext()
    }
  }

  /** Copies the texts to the thread, which takes CPU of the loop: about 50 ms for a body of 30 MB. */
  #send(search: Search, scope: string): Promise<SearchResult> {
    const begunMs = threadCpuMs()
    try {
      return this.#thread.search(search)
    } finally {
      this.#perCaller.charge(scope, threadCpuMs() - begunMs)
    }
  }

  #charge(scope: string, cpuMs: number): void {
    this.#perCaller.charge(scope, cpuMs)
    this.#inThread.charge(ALL, cpuMs)
  }
}

function exhausted(waitMs: number): GatewayError {
  return new GatewayError(
    'rate_limit_error',
    'Module `preserve`: the regular expressions of this key have used their CPU. Expected simpler ones, fewer, or shorter texts.',
    { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
  )
}

function tooManyWaiting(): GatewayError {
  return new GatewayError(
    'rate_limit_error',
    `Module \`preserve\`: expected at most ${MOST_WAITING_PER_CALLER} searches of a key to wait for regular expressions, got more.`,
    { headers: { 'retry-after': '1' } },
  )
}

function busy(): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `Module \`preserve\`: regular expressions of all callers wait for CPU, this one for ${LONGEST_WAIT_MS} ms or behind ${MOST_WAITING} others. Try again later, or with a simpler one.`,
  )
}
