import type { Log } from '../../core/ports/log.ts'
import type { RateLimiter } from '../../core/ports/rate-limit.ts'
import type { RateRule } from './gcra.ts'
import { memoryLimiter } from './memory.ts'

/** Options of limiters. */
export interface LimiterOptions {
  readonly redisUrl: string | undefined
  /** Keeps limiters of one engine apart. */
  readonly namespace: string
  readonly log: Log
}

/** Opens a limiter: in memory, or shared through Redis. */
export async function openLimiter(rule: RateRule, { redisUrl, ...rest }: LimiterOptions): Promise<RateLimiter> {
  if (redisUrl === undefined) return memoryLimiter(rule)
  // Only when it is used: see stores/kv/stores.ts.
  const { redisLimiter } = await import('./redis.ts')
  return redisLimiter(rule, { ...rest, url: redisUrl })
}
