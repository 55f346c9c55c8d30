import { GatewayError, messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { RequestRow } from './rows.ts'

/**
 * DESIGN — telemetry on its way to the database
 *
 *   add() ──► waiting (bounded) ──250 ms, or 500 rows──► put: one transaction ──► gone
 *                 ▲                                        │ the database is down
 *                 └────────── after a growing pause ◄──────┘
 *
 * Guarantees: `add` never waits and never throws; one batch is under way at a time; a warning says what was dropped and
 * why, at most once in ten seconds. Limits: what does not fit is dropped, the newest first; what waits at a crash is lost.
 */
const MOST_WAITING = 10_000
const MOST_AT_ONCE = 500
const MOMENT_MS = 250
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
const WARN_EVERY_MS = 10_000

/** What a writer is made from. */
export interface TelemetryWriterOptions {
  /** Stores rows wholly or not at all; rows that are there already stay as they are. */
  readonly put: (rows: readonly RequestRow[]) => Promise<void>
  readonly log: Log
  /** Default 10,000 rows. */
  readonly mostWaiting?: number | undefined
  /** How long rows wait for others. Default 250 ms. */
  readonly momentMs?: number | undefined
  /** After the first failure in a row; each further one doubles it, up to a minute. Default one second. */
  readonly pauseMs?: number | undefined
}

/** Stores rows in batches, in the background. */
export class TelemetryWriter {
  readonly #put: TelemetryWriterOptions['put']
  readonly #log: Log
  readonly #mostWaiting: number
  readonly #momentMs: number
  readonly #pauseMs: number
  #waiting: RequestRow[] = []
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #dropped = 0
  #reason = ''
  #warning: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: TelemetryWriterOptions) {
    this.#put = options.put
    this.#log = options.log
    this.#mostWaiting = options.mostWaiting ?? MOST_WAITING
    this.#momentMs = options.momentMs ?? MOMENT_MS
    this.#pauseMs = options.pauseMs ?? FIRST_PAUSE_MS
  }

  /** Takes a row; it is stored later, or dropped when too many wait. */
  add(row: RequestRow): void {
    if (this.#isClosed) return void this.#drop(1, 'the gateway stopped')
    if (this.#waiting.length >= this.#mostWaiting) return void this.#drop(1, this.#reason || 'too many wait')
    this.#waiting.push(row)
    // While the database is down, full batches wait for the pause to end like all others.
    if (this.#waiting.length >= MOST_AT_ONCE && this.#failures === 0) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#momentMs).unref()
  }

  /** Counts a request that could not even be made a row. */
  fail(error: unknown): void {
    this.#drop(1, messageOf(error))
  }

  /** Stores what waits, for at most `timeoutMs`; the rest is dropped, and counted. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeoutMs)
    await Promise.race([this.#writeAll(), late])
    clearTimeout(timer)
    clearTimeout(this.#timer)
    const left = this.#waiting.length
    this.#waiting = []
    if (left > 0) this.#drop(left, this.#reason || 'the gateway stopped')
    clearTimeout(this.#warning)
    this.#tell()
  }

  async #writeAll(): Promise<void> {
    await this.#writing
    while (this.#waiting.length > 0) {
      const before = this.#failures
      await this.#write()
      if (this.#failures > before) return
    }
  }

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
    this.#timer = setTimeout(() => this.#begin(), this.#nextAfterMs()).unref()
  }

  #nextAfterMs(): number {
    if (this.#failures > 0) return Math.min(this.#pauseMs * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS)
    return this.#waiting.length >= MOST_AT_ONCE ? 0 : this.#momentMs
  }

  /** Writes one batch, which stays among those that wait until its fate is known. Never rejects. */
  async #write(): Promise<void> {
    const batch = this.#waiting.slice(0, MOST_AT_ONCE)
    try {
      await this.#put(batch)
      this.#failures = 0
      this.#reason = ''
    } catch (error) {
      const isDown = error instanceof GatewayError && error.code === 'service_unavailable'
      this.#reason = messageOf(error)
      this.#failures++
      if (isDown) return this.#warn()
      // What is refused for another reason would be refused for ever.
      this.#failures = 0
      this.#drop(batch.length, this.#reason)
    }
    this.#waiting.splice(0, batch.length)
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count
    this.#reason = reason
    this.#warn()
  }

  #warn(): void {
    if (this.#warning === undefined) this.#tell()
  }

  #tell(): void {
    this.#warning = undefined
    const [dropped, waiting, reason] = [this.#dropped, this.#waiting.length, this.#reason]
    if (dropped === 0 && (this.#failures === 0 || this.#isClosed)) return
    this.#dropped = 0
    this.#log.warn({ dropped, waiting, reason }, 'telemetry.not-stored')
    if (!this.#isClosed) this.#warning = setTimeout(() => this.#tell(), WARN_EVERY_MS).unref()
  }
}
