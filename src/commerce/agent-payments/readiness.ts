/** Ability to take money: in production, in tests only, of a sandbox without money, or not at all. */
export type Readiness = 'production_live' | 'test_mode' | 'sandbox' | 'not_configured'

/** Largest age of the result in milliseconds, while the payment provider replies. */
const FRESH_MS = 5 * 60_000
/** Pause in milliseconds after the payment provider did not reply. */
const REST_MS = 30_000

/** Dependencies of the readiness check. */
export interface ReadinessOptions {
  /** Queries the payment provider; rejects when it does not reply. */
  readonly ask: () => Promise<Readiness>
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number
}

/**
 * Creates a cached check of whether money can be taken; all callers share one query to the payment provider. While
 * it does not reply, the last result holds; without one, the answer is negative.
 */
export function createReadiness({ ask, monotonicMs }: ReadinessOptions): () => Promise<Readiness> {
  let known: Readiness = 'not_configured'
  let askAgainAtMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  const refresh = async (): Promise<void> => {
    try {
      known = await ask()
      askAgainAtMs = monotonicMs() + FRESH_MS
    } catch {
      askAgainAtMs = monotonicMs() + REST_MS
    } finally {
      asking = undefined
    }
  }
  return async function readiness() {
    if (monotonicMs() >= askAgainAtMs) {
      asking ??= refresh()
      await asking
    }
    return known
  }
}
