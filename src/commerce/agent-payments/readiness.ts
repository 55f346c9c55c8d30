/** Whether money can be taken: really, for tests only, or not at all. */
export type Readiness = 'production_live' | 'test_mode' | 'not_configured'

/** What is told is at most this old, in milliseconds, while the payment provider answers. */
const FRESH_MS = 5 * 60_000
/** How long the payment provider is left alone after it did not answer. */
const REST_MS = 30_000

/** How readiness is found out. */
export interface ReadinessOptions {
  /** Asks the payment provider; rejects when it does not answer. */
  readonly ask: () => Promise<Readiness>
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number
}

/**
 * Tells whether money can be taken, and asks the payment provider for that now and then, however many want to know. While
 * it does not answer, what it last said holds; without that, nothing is promised.
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
