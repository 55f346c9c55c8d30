import { BufferedWriter } from '../../../core/buffered-writer.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'

const AGAIN_AFTER_MS = 1000
const MOST_WAITING = 20_000
const CLOSE_WITHIN_MS = 5000

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
  readonly #settle: SpendEndsOptions['settle']
  readonly #waiting: BufferedWriter<SpendEnd>

  constructor({ settle, log }: SpendEndsOptions) {
    this.#settle = settle
    this.#waiting = new BufferedWriter({
      put: async (ends) => {
        for (const end of ends) await settle(end)
      },
      log,
      event: 'spend.settlements-wait',
      mostAtOnce: 1,
      momentMs: AGAIN_AFTER_MS,
      pauseMs: AGAIN_AFTER_MS,
      longestPauseMs: AGAIN_AFTER_MS,
      warnEveryMs: AGAIN_AFTER_MS,
      retriesAtEnd: false,
      mostWaiting: MOST_WAITING,
    })
  }

  /** Sends an end, now or later. Rejects when the hold is unknown, or too many wait. */
  async send(end: SpendEnd): Promise<void> {
    try {
      await this.#settle(end)
    } catch (error) {
      const isPassing = error instanceof GatewayError && error.code === 'service_unavailable'
      if (!isPassing || this.#waiting.waiting.length >= MOST_WAITING) throw error
      this.#waiting.add(end)
    }
  }

  /** Sends waiting ends once more: the rest counts in full. */
  close(): Promise<void> {
    return this.#waiting.close(CLOSE_WITHIN_MS)
  }
}
