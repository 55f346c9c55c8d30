import type { Log } from '../../core/ports/log.ts'
import type { RateLimiter } from '../../core/ports/rate-limit.ts'
import { withDeadline } from '../kv/deadline.ts'
import { createRedisClient, reportFault } from '../redis-client.ts'
import { describe, type RateRule } from './gcra.ts'
import { memoryLimiter } from './memory.ts'

/**
 * The same decision by the server's own clock, in one atomic step: returns whether the request is admitted, and how far the
 * arrival time is ahead, in microseconds.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[2]) * 1000
local interval = window / tonumber(ARGV[1])
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
if used - now > window + 1 then used = now end -- only a clock that was set back comes to that
local allowed = used + interval - now <= window + 1
if allowed then
  used = used + interval
  redis.call('SET', KEYS[1], string.format('%.0f', used), 'PX', math.ceil((used - now) / 1000) + 1000)
end
return { allowed and 1 or 0, math.floor(used - now) }
`
const REST_AFTER_FAILURE_MS = 1000

/** Options of the limiter. */
export interface RedisLimiterOptions {
  readonly url: string
  readonly namespace: string
  readonly log: Log
}

/**
 * Creates limits that several instances share. During an outage of Redis each instance counts by itself: the limit is too
 * generous by the number of instances, which is better than none, or no service.
 */
export function redisLimiter(rule: RateRule, { url, namespace, log }: RedisLimiterOptions): RateLimiter {
  const client = createRedisClient(url, log)
  client.connect().catch(() => {}) // logged; it retries
  const own = memoryLimiter(rule)
  let restUntilMs = 0
  return {
    async take(key, limit = rule.limit) {
      if (performance.now() < restUntilMs) return own.take(key, limit)
      try {
        const args = [String(limit), String(rule.windowMs)]
        const keys = [`turnpike:${namespace}:${key}`]
        const asking = client.eval(SCRIPT, { keys, arguments: args })
        const reply = await withDeadline(asking, { onLate: (error) => reportFault(client, error) })
        if (!isDecision(reply)) {
          const error = new Error('Redis gave no decision')
          reportFault(client, error)
          throw error
        }
        return describe({ ...rule, limit }, { isAllowed: reply[0] === 1, aheadMs: reply[1] / 1000 })
      } catch {
        restUntilMs = performance.now() + REST_AFTER_FAILURE_MS
        return own.take(key, limit)
      }
    },
    async close() {
      client.destroy()
    },
  }
}

/** Checks the script's result; garbage may look like a reply of another kind. */
function isDecision(reply: unknown): reply is [isAllowed: number, aheadMicroseconds: number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every(Number.isSafeInteger)
}
