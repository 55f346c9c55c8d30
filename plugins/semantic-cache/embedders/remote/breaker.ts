import type { Clock } from 'turnpike/plugin'

/** When an endpoint is left alone. */
export interface BreakerOptions {
  /** Failures on end that open it. */
  readonly failures: number
  /** How long it stays open before one call may try. */
  readonly pauseMs: number
  readonly clock: Clock
  /** Told when it opens and when it closes again. */
  readonly onChange: (state: 'opened' | 'closed') => void
}

/**
 * Leaves alone what keeps failing.
 *
 *   closed ──failures on end──► open ──pause──► one call tries ──well──► closed
 *                                ▲                   │failed
 *                                └───────────────────┘
 */
export class Breaker {
  readonly #options: BreakerOptions
  #failuresOnEnd = 0
  /** When the next call may try; `undefined` while closed. */
  #openUntilMs: number | undefined
  #isTrying = false

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** Whether a call may be made now. Who is told yes must call `succeed` or `fail`. */
  tryEnter(): boolean {
    if (this.#openUntilMs === undefined) return true
    if (this.#isTrying || this.#options.clock.nowMs() < this.#openUntilMs) return false
    this.#isTrying = true
    return true
  }

  succeed(): void {
    this.#failuresOnEnd = 0
    this.#isTrying = false
    if (this.#openUntilMs === undefined) return
    this.#openUntilMs = undefined
    this.#options.onChange('closed')
  }

  fail(): void {
    this.#failuresOnEnd++
    this.#isTrying = false
    const { failures, pauseMs, clock, onChange } = this.#options
    if (this.#failuresOnEnd < failures) return
    const wasClosed = this.#openUntilMs === undefined
    this.#openUntilMs = clock.nowMs() + pauseMs
    if (wasClosed) onChange('opened')
  }
}
