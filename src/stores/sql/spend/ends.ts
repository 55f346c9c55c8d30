import { GatewayError, messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'

const AGAIN_AFTER_MS = 1000
const MOST_WAITING = 20_000

/** What a request cost, for its hold. */
export interface SpendEnd {
  readonly holdId: string
  readonly costNanoUsd: number
}

/** What ends are told with. */
export interface SpendEndsOptions {
  readonly tell: (end: SpendEnd) => Promise<void>
  readonly log: Log
}

/**
 * Ends of holds. Those that the database does not take wait, and are told again each second: told twice they change
 * nothing, and told after the hold has expired they correct it. What waits at a crash, or is too much, counts in full.
 */
export class SpendEnds {
  readonly #options: SpendEndsOptions
  #waiting: SpendEnd[] = []
  #timer: NodeJS.Timeout | undefined
  #telling: Promise<void> | undefined

  constructor(options: SpendEndsOptions) {
    this.#options = options
  }

  /** Tells an end, now or later. Rejects when the hold is unknown, or too many wait. */
  async tell(end: SpendEnd): Promise<void> {
    try {
      await this.#options.tell(end)
    } catch (error) {
      if (!isPassing(error) || this.#waiting.length >= MOST_WAITING) throw error
      this.#waiting.push(end)
      this.#tellLater(error)
    }
  }

  /** Tells what waits, once more: the rest counts in full. */
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
    this.#telling ??= this.#tellWaiting().finally(() => {
      this.#telling = undefined
    })
    return this.#telling
  }

  /** One after another, until one is not taken. Never rejects. */
  async #tellWaiting(): Promise<void> {
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
