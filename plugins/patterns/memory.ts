import { LRUCache } from 'lru-cache'
import type { Clock } from 'turnpike/plugin'
import type { Injection } from './decide.ts'

/** What a moment was given, and the version of the patterns that it was chosen from. */
export interface Remembered {
  readonly version: number
  readonly injections: readonly Injection[]
}

const FORGOTTEN_AFTER_MS = 3_600_000
/** About the memory of a moment, and of a text that it was given beside its characters. */
const MOMENT_BYTES = 400
const INJECTION_BYTES = 300
const CHARACTER_BYTES = 2

/**
 * Remembers what moments were given, for an hour after they were last seen, in `maxBytes` of memory. Nothing needs it while patterns, headers and
 * choice stay as they are: the same would be decided again. When they change, running conversations keep what they have.
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

/** About: the text of a pattern without variables is shared, and counted as if it was not. */
function bytesOf({ injections }: Remembered): number {
  return injections.reduce((sum, { text }) => sum + INJECTION_BYTES + CHARACTER_BYTES * text.length, MOMENT_BYTES)
}
