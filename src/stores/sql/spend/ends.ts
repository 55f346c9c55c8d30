import { abortable } from '../../../core/abortable.ts'
import { GatewayError, messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { SettleOutcome, SpendEnd } from './holds.ts'

const AGAIN_AFTER_MS = 1000
const MOST_WAITING = 20_000
/** Ends per transaction. */
const MOST_AT_ONCE = 64

/** Dependencies of `SpendEnds`. */
export interface SpendEndsOptions {
  /** Settles all of them or, when it rejects, none. Returns the outcomes in their order. */
  readonly settle: (ends: readonly SpendEnd[]) => Promise<readonly SettleOutcome[]>
  readonly log: Log
}

interface Pending {
  readonly end: SpendEnd
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Ends of holds. Those that come while others are sent are the next batch. Failed ones wait, and are retried each second:
 * a repeated end is a no-op, and an end after its hold has expired corrects it. Ends that wait at a crash, or exceed the
 * bound, count in full.
 */
export class SpendEnds {
  readonly #options: SpendEndsOptions
  readonly #pending: Pending[] = []
  #sending: Promise<void> | undefined
  readonly #waiting: SpendEnd[] = []
  #timer: NodeJS.Timeout | undefined
  #retrying: Promise<void> | undefined

  constructor(options: SpendEndsOptions) {
    this.#options = options
  }

  /** Sends an end, now or later. Rejects when the hold is unknown, or too many wait. */
  send(end: SpendEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ end, resolve, reject })
      this.#sending ??= this.#sendPending()
    })
  }

  /** Sends waiting ends for at most `timeoutMs`, until one fails: the rest counts in full. */
  async close(timeoutMs: number): Promise<void> {
    const onTimeout = () => new Error('the gateway stopped')
    await abortable(this.#sendAll(), { timeoutMs, onTimeout }).catch((error: unknown) => this.#logWaiting(error))
    this.#waiting.length = 0
    clearTimeout(this.#timer)
  }

  async #sendAll(): Promise<void> {
    await this.#sending
    clearTimeout(this.#timer)
    await this.#retry()
  }

  /** Sends pending ends, batch by batch. Never rejects. */
  async #sendPending(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, MOST_AT_ONCE)
      await this.#sendTogether(batch).catch((error: unknown) => {
        // The database is down: the others would wait for it in vain.
        for (const pending of [...batch, ...this.#pending.splice(0)]) this.#wait(pending, error)
      })
    }
    this.#sending = undefined
  }

  /** Sends a batch; if it is refused, one by one, so that one does not stop the others. Rejects while the database is down. */
  async #sendTogether(batch: readonly Pending[]): Promise<void> {
    try {
      const outcomes = await this.#options.settle(batch.map(({ end }) => end))
      for (const [index, pending] of batch.entries()) this.#finish(pending, outcomes[index])
    } catch (error) {
      if (isPassing(error)) throw error
      if (batch.length === 1) batch[0]?.reject(error)
      else for (const one of batch) await this.#sendTogether([one])
    }
  }

  #finish({ end, resolve, reject }: Pending, outcome: SettleOutcome | undefined): void {
    if (outcome === 'corrected') this.#options.log.info({ holdId: end.holdId }, 'spend.corrected')
    if (outcome === 'unknown') reject(new GatewayError('internal_error', `The hold ${end.holdId} is unknown.`))
    else resolve()
  }

  #wait({ end, resolve, reject }: Pending, error: unknown): void {
    if (this.#waiting.length >= MOST_WAITING) reject(error)
    else {
      this.#waiting.push(end)
      this.#retryLater(error)
      resolve()
    }
  }

  #retryLater(error: unknown): void {
    if (this.#timer !== undefined) return
    this.#logWaiting(error)
    this.#timer = setTimeout(() => void this.#retry(), AGAIN_AFTER_MS).unref()
  }

  #logWaiting(error: unknown): void {
    this.#options.log.warn({ waiting: this.#waiting.length, reason: messageOf(error) }, 'spend.settlements-wait')
  }

  #retry(): Promise<void> {
    this.#retrying ??= this.#sendWaiting().finally(() => {
      this.#retrying = undefined
    })
    return this.#retrying
  }

  /** Sends waiting ends, until the database is down. Never rejects. */
  async #sendWaiting(): Promise<void> {
    this.#timer = undefined
    while (this.#waiting.length > 0) {
      // A hold that was never made has nothing to end.
      const batch = this.#waiting.slice(0, MOST_AT_ONCE).map((end) => ({ end, resolve() {}, reject() {} }))
      try {
        await this.#sendTogether(batch)
      } catch (error) {
        return this.#retryLater(error)
      }
      this.#waiting.splice(0, batch.length)
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'service_unavailable'
}
