import type { Clock } from 'turnpike/plugin'

/** Thresholds of the circuit breaker. */
export interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly failures: number
  /** Time in milliseconds until a trial call is allowed. */
  readonly pauseMs: number
  readonly clock: Clock
  /** Called when it opens and when it closes again. */
  readonly onChange: (state: 'opened' | 'closed') => void
}

/**
 * Circuit breaker.
 *
 *   closed ──failures in a row──► open ──pause──► one call tries ──well──► closed
 *                                ▲                   │failed
 *                                └───────────────────┘
 */
export class Breaker {
  readonly #options: BreakerOptions
  #failuresOnEnd = 0
  /** Time of the next trial call; `undefined` while closed. */
  #openUntilMs: number | undefined
  #isTrying = false

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** Returns whether a call may be made now. After true, the caller must call `succeed` or `fail`. */
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
