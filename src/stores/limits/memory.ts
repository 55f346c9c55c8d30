import { LRUCache } from 'lru-cache'
import type { Clock } from '../../core/ports/clock.ts'
import type { RateLimiter } from '../../core/ports/rate-limit.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { decide, type RateRule } from './gcra.ts'

/** Most keys; the least recently used one is evicted and then starts anew. */
const MOST_KEYS = 100_000

/** A monotonic clock: a wall clock set back would hold up all callers. */
const monotonic: Clock = { nowMs: () => performance.now() }

/** Creates limits in this process's memory. */
export function memoryLimiter(rule: RateRule, clock = monotonic): RateLimiter {
  const arrivals = new LRUCache<string, number>(entryLimit(MOST_KEYS))
  return {
    take(key, limit = rule.limit) {
      const decision = decide({ ...rule, limit }, arrivals.get(key), clock.nowMs())
      if (decision.isAllowed) arrivals.set(key, decision.arrivalMs)
      return decision
    },
    async close() {},
  }
}
