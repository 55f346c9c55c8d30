/** Decision of a limiter about one request. */
export interface RateDecision {
  readonly isAllowed: boolean
  /** Requests that a window admits. */
  readonly limit: number
  readonly windowMs: number
  /** Further requests that would be admitted now. */
  readonly remaining: number
  /** Time until all used requests are free again, in milliseconds. */
  readonly resetMs: number
  /** Time until the next request is admitted, in milliseconds; 0 when one would be now. */
  readonly retryMs: number
}

/** Admits a number of requests of a key in a window, on all instances together. */
export interface RateLimiter {
  /**
   * Counts a request of a key, against a limit of the key's own or the limiter's. Does not reject while the store is down:
   * its limiter counts by itself.
   */
  take(key: string, limit?: number): RateDecision | Promise<RateDecision>
  close(): Promise<void>
}
