import { GatewayError, messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'

const AGAIN_AFTER_MS = 1000
const MOST_WAITING = 20_000

/** The cost of a request, for its hold. */
export interface SpendEnd {
  readonly holdId: string
  readonly costNanoUsd: number
}

/** Dependencies of `SpendEnds`. */
export interface SpendEndsOptions {
  readonly settle: (end: SpendEnd) => Promise<void>
  readonly log: Log
}

/**
 * Ends of holds. Failed ones wait, and are retried each second: a repeated end is a no-op, and an end after its hold
 * has expired corrects it. Ends that wait at a crash, or exceed the bound, count in full.
 */
export class SpendEnds {
  readonly #options: SpendEndsOptions
  #waiting: SpendEnd[] = []
  #timer: NodeJS.Timeout | undefined
  #retrying: Promise<void> | undefined

  constructor(options: SpendEndsOptions) {
    this.#options = options
  }

  /** Sends an end, now or later. Rejects when the hold is unknown, or too many wait. */
  async send(end: SpendEnd): Promise<void> {
    try {
      await this.#options.settle(end)
    } catch (error) {
      if (!isPassing(error) || this.#waiting.length >= MOST_WAITING) throw error
      this.#waiting.push(end)
      this.#retryLater(error)
    }
  }

  /** Sends waiting ends once more: the rest counts in full. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#retry()
    clearTimeout(this.#timer)
  }

  #retryLater(error: unknown): void {
    if (this.#timer !== undefined) return
    this.#options.log.warn({ waiting: this.#waiting.length, reason: messageOf(error) }, 'spend.settlements-wait')
    this.#timer = setTimeout(() => void this.#retry(), AGAIN_AFTER_MS).unref()
  }

  #retry(): Promise<void> {
    this.#retrying ??= this.#sendWaiting().finally(() => {
      this.#retrying = undefined
    })
    return this.#retrying
  }

  /** Sends waiting ends one after another, until one fails. Never rejects. */
  async #sendWaiting(): Promise<void> {
    this.#timer = undefined
    for (let end = this.#waiting[0]; end !== undefined; end = this.#waiting[0]) {
      try {
        await this.#options.settle(end)
      } catch (error) {
        if (isPassing(error)) return this.#retryLater(error)
        // A hold that was never made has nothing to end.
      }
      this.#waiting.shift()
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'service_unavailable'
}
