import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError, messageOf } from './errors.ts'
import type { Log } from './ports/log.ts'

/**
 * DESIGN — a bounded queue of rows in front of a database
 *
 *   add() ──► waiting (bounded) ──delay, or a full batch──► put ──► gone
 *                 ▲                                             │ the database fails
 *                 └─────────── after a growing delay ◄──────────┘
 *
 * Rows are delayed so that many share one message and one commit: alone, a row would cost several times its request.
 *
 * Guarantees: `add` never waits, throws or rejects; one batch is in flight at a time, and its rows stay in the queue until
 * its result is known; a row that is refused for good does not take the others of its batch along; a warning counts dropped
 * and queued rows, at most once in `warnEveryMs`. Limits: rows beyond the bound are dropped, the newest first; queued rows
 * are lost in a crash.
 */
const MOST_WAITING = 10_000

/** Input of a `BufferedWriter`. */
export interface BufferedWriterOptions<Row> {
  /** Stores rows wholly or not at all; idempotent: rows that are there already stay as they are. */
  readonly put: (rows: readonly Row[]) => Promise<void>
  readonly log: Log
  /** The log event of its warnings. */
  readonly event: string
  /** Largest batch, in rows. */
  readonly mostAtOnce: number
  /** Delay that lets further rows join a batch. */
  readonly momentMs: number
  /** Pause after the first failure; each further failure doubles it, up to `longestPauseMs`. */
  readonly pauseMs: number
  readonly longestPauseMs: number
  readonly warnEveryMs: number
  /** `close` retries a database that is down until its time-out. */
  readonly retriesAtEnd: boolean
  /** Default 10,000 rows. */
  readonly mostWaiting?: number | undefined
}

/** Stores rows in batches, in the background. */
export class BufferedWriter<Row> {
  readonly #options: BufferedWriterOptions<Row>
  readonly #mostWaiting: number
  #waiting: Row[] = []
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #dropped = 0
  #reason = ''
  #warning: NodeJS.Timeout | undefined
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(options: BufferedWriterOptions<Row>) {
    this.#options = options
    this.#mostWaiting = options.mostWaiting ?? MOST_WAITING
  }

  /** Rows that are not stored yet. */
  get waiting(): readonly Row[] {
    return this.#waiting
  }

  /** Queues a row to be stored later; drops it when the queue is full. */
  add(row: Row): void {
    if (this.#isClosed) return void this.#drop(1, 'the gateway stopped')
    if (this.#waiting.length >= this.#mostWaiting) return void this.#drop(1, this.#reason || 'too many wait')
    this.#waiting.push(row)
    // While the database is down, full batches wait for the pause to end like all others.
    if (this.#waiting.length >= this.#options.mostAtOnce && this.#failures === 0) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.momentMs).unref()
  }

  /**
   * Stores the rows up to `last` without a delay; by default all that wait now. Returns true once they have left the queue;
   * false while the database fails, or after `timeoutMs`: they wait on.
   */
  async flush(timeoutMs: number, last: Row | undefined = this.#waiting.at(-1)): Promise<boolean> {
    if (last === undefined) return true
    const isWaiting = () => this.#waiting.includes(last)
    const ending = new AbortController()
    const late = sleep(timeoutMs, 'late', { signal: ending.signal }).catch(() => 'late')
    while (isWaiting() && this.#failures === 0) {
      this.#begin()
      if ((await Promise.race([this.#writing, late])) === 'late') break
    }
    ending.abort()
    return !isWaiting()
  }

  /** Counts a row that could not be built. */
  fail(error: unknown): void {
    this.#drop(1, messageOf(error))
  }

  /** Stores the queued rows, for at most `timeoutMs`; the rest is dropped and counted, rows in flight too. Idempotent. */
  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const ending = new AbortController()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeoutMs)
    await Promise.race([this.#writeAll(ending.signal), late])
    clearTimeout(timer)
    ending.abort()
    const left = this.#waiting.length
    if (left > 0) this.#drop(left, this.#reason || 'the gateway stopped')
    clearTimeout(this.#warning)
    this.#logCounts()
    this.#waiting = []
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    await this.#writing
    while (this.#waiting.length > 0 && !signal.aborted) {
      this.#begin()
      await this.#writing
      if (this.#failures === 0) continue
      if (!this.#options.retriesAtEnd) return
      await sleep(this.#pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Starts a write, unless one is in flight: the only caller of `#write`. */
  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return
    clearTimeout(this.#timer)
    const { mostAtOnce, momentMs } = this.#options
    const afterMs = this.#failures > 0 ? this.#pauseMs : this.#waiting.length >= mostAtOnce ? 0 : momentMs
    this.#timer = setTimeout(() => this.#begin(), afterMs).unref()
  }

  get #pauseMs(): number {
    const { pauseMs, longestPauseMs } = this.#options
    return Math.min(pauseMs * 2 ** (this.#failures - 1), longestPauseMs)
  }

  /** Writes one batch; if it is refused for good, row by row, to find those at fault. Never rejects. */
  async #write(): Promise<void> {
    const batch = this.#waiting.slice(0, this.#options.mostAtOnce)
    if ((await this.#put(batch)) !== 'refused') return
    for (const row of batch) {
      if (this.#isClosed && this.#waiting.length === 0) return
      const result = batch.length === 1 ? 'refused' : await this.#put([row])
      if (result === 'down') return
      if (result === 'refused') this.#drop(this.#remove([row]), this.#reason)
    }
  }

  /** Stores the oldest of the queued rows. */
  async #put(rows: readonly Row[]): Promise<'stored' | 'refused' | 'down'> {
    try {
      await this.#options.put(rows)
      this.#failures = 0
      this.#reason = ''
      this.#remove(rows)
      return 'stored'
    } catch (error) {
      this.#reason = messageOf(error)
      const isDown = error instanceof GatewayError && error.code === 'service_unavailable'
      this.#failures = isDown ? this.#failures + 1 : 0
      if (isDown) this.#warn()
      return isDown ? 'down' : 'refused'
    }
  }

  /** Removes rows, which are the oldest unless `close` has removed them. Returns how many it removed. */
  #remove(rows: readonly Row[]): number {
    let count = 0
    while (count < rows.length && this.#waiting[count] === rows[count]) count++
    this.#waiting.splice(0, count)
    return count
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count
    this.#reason = reason
    this.#warn()
  }

  #warn(): void {
    if (this.#warning === undefined) this.#logCounts()
  }

  #logCounts(): void {
    this.#warning = undefined
    const [dropped, waiting, reason] = [this.#dropped, this.#waiting.length, this.#reason]
    if (dropped === 0 && (this.#failures === 0 || this.#isClosed)) return
    this.#dropped = 0
    const { log, event, warnEveryMs } = this.#options
    log.warn({ dropped, waiting, reason }, event)
    if (!this.#isClosed) this.#warning = setTimeout(() => this.#logCounts(), warnEveryMs).unref()
  }
}
