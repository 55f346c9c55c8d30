import { LRUCache } from 'lru-cache'
import type { Clock } from 'turnpike/plugin'
import type { Injection } from './decide.ts'

/** Injections of a moment, and the version of the patterns that they came from. */
export interface Remembered {
  readonly version: number
  readonly injections: readonly Injection[]
}

const FORGOTTEN_AFTER_MS = 3_600_000
/** Approximate overhead of a moment, and of each of its texts. */
const MOMENT_BYTES = 400
const INJECTION_BYTES = 300
const CHARACTER_BYTES = 2

/**
 * Memory of injections by moment, within `maxBytes`, for an hour after the last use. It is redundant while patterns,
 * headers and choice are unchanged: the same decision would result. When they change, active conversations keep their
 * injections.
 */
export class Memory {
  readonly #moments: LRUCache<string, Remembered>

  constructor(clock: Clock, maxBytes: number) {
    this.#moments = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: bytesOf,
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

/** Estimates the memory: the text of a pattern without variables is shared, but counted each time. */
function bytesOf({ injections }: Remembered): number {
  return injections.reduce((sum, { text }) => sum + INJECTION_BYTES + CHARACTER_BYTES * text.length, MOMENT_BYTES)
}
