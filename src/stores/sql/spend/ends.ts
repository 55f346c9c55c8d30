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
  readonly tell: (end: SpendEnd) => Promise<void>
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
  #telling: Promise<void> | undefined

  constructor(options: SpendEndsOptions) {
    this.#options = options
  }

  /** Sends an end, now or later. Rejects when the hold is unknown, or too many wait. */
  async send(end: SpendEnd): Promise<void> {
    try {
      await this.#options.tell(end)
    } catch (error) {
      if (!isPassing(error) || this.#waiting.length >= MOST_WAITING) throw error
      this.#waiting.push(end)
      this.#tellLater(error)
    }
  }

  /** Sends waiting ends once more: the rest counts in full. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#tellAgain()
    clearTimeout(this.#timer)
  }

  #tellLater(error: unknown): void {
    if (this.#timer !== undefined) return
    this.#options.log.warn({ waiting: this.#waiting.length, reason: messageOf(error) }, 'spend.settlements-wait')
    this.#timer = setTimeout(() => void this.#tellAgain(), AGAIN_AFTER_MS).unref()
  }

  #tellAgain(): Promise<void> {
    this.#telling ??= this.#sendWaiting().finally(() => {
      this.#telling = undefined
    })
    return this.#telling
  }

  /** Sends waiting ends one after another, until one fails. Never rejects. */
  async #sendWaiting(): Promise<void> {
    this.#timer = undefined
    for (let end = this.#waiting[0]; end !== undefined; end = this.#waiting[0]) {
      try {
        await this.#options.tell(end)
      } catch (error) {
        if (isPassing(error)) return this.#tellLater(error)
        // A hold that was never made has nothing to end.
      }
      this.#waiting.shift()
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'service_unavailable'
}
