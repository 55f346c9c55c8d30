import { LRUCache } from 'lru-cache'
import type { Clock } from 'turnpike/plugin'
import type { Injection } from './decide.ts'

/** What a moment was given, and the version of the patterns that it was chosen from. */
export interface Remembered {
  readonly version: number
  readonly injections: readonly Injection[]
}

const MOST_MOMENTS = 20_000
const FORGOTTEN_AFTER_MS = 3_600_000

/**
 * Remembers what moments were given, for an hour after they were last seen. Nothing needs it while patterns, headers and
 * choice stay as they are: the same would be decided again. When they change, running conversations keep what they have.
 */
export class Memory {
  readonly #moments: LRUCache<string, Remembered>

  constructor(clock: Clock) {
    this.#moments = new LRUCache({
      max: MOST_MOMENTS,
      ttl: FORGOTTEN_AFTER_MS,
      updateAgeOnGet: true,
      ttlResolution: 0,
      perf: { now: () => clock.nowMs() },
    })
  }

  recall(key: string): Remembered | undefined {
    return this.#moments.get(key)
  }

  remember(key: string, moment: Remembered): void {
    this.#moments.set(key, moment)
  }
}
