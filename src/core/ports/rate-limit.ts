/** What a limiter decided about one request. */
export interface RateDecision {
  readonly isAllowed: boolean
  /** How many requests a window lets through. */
  readonly limit: number
  readonly windowMs: number
  /** How many more would be let through now. */
  readonly remaining: number
  /** Until all that was used is free again, in milliseconds. */
  readonly resetMs: number
  /** Until the next request is let through, in milliseconds; 0 when one would be now. */
  readonly retryMs: number
}

/** Lets through so many requests of a key in a window, on all instances together. */
export interface RateLimiter {
  /**
   * Counts a request of a key, against a limit of the key's own or the limiter's. A store that is down does not reject:
   * its limiter counts by itself.
   */
  take(key: string, limit?: number): RateDecision | Promise<RateDecision>
  close(): Promise<void>
}
