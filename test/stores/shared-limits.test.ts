import { createClient } from '@redis/client'
import test from 'ava'
import { openLimiter } from '../../src/stores/limits/open.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/ports.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { createRedis, createRedisDatabase, isRedisExpected } from '../support/redis.ts'

const testWithRedis = isRedisExpected ? test : test.skip
const LIMIT = 20
const RULE = { limit: LIMIT, windowMs: 60_000 }

function open(redisUrl: string) {
  return openLimiter(RULE, { redisUrl, namespace: 'test', log: createRecordingLog() })
}

testWithRedis('shared limits: two instances let through one limit together, however they interleave', async (t) => {
  const redisUrl = await createRedisDatabase()
  const limiters = await Promise.all([open(redisUrl), open(redisUrl)])
  // Until an instance has its connection it counts by itself.
  let polls = 0
  await eventually(async () => {
    const key = `warm ${++polls}`
    const remaining = []
    for (const limiter of limiters) remaining.push((await limiter.take(key)).remaining)
    return remaining[1] === LIMIT - 2
  }, 'the instances count together')
  const decisions = await Promise.all(
    Array.from({ length: 4 * LIMIT }, (_, index) => limiters[index % 2]?.take('burst')),
  )
  const through = decisions.filter((decision) => decision?.isAllowed === true)
  t.is(through.length, LIMIT)
  t.deepEqual(
    through.map((decision) => decision?.remaining).sort((a = 0, b = 0) => b - a),
    Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index),
  )
  const refused = decisions.find((decision) => decision?.isAllowed === false)
  t.true(refused !== undefined && refused.retryMs > 0 && refused.retryMs <= RULE.windowMs / LIMIT)
  const ofKey = await Promise.all([1, 2, 3, 4].map((nth) => limiters[nth % 2]?.take('limited key', 2)))
  t.is(ofKey.filter((decision) => decision?.isAllowed === true).length, 2)
  await Promise.all(limiters.map((limiter) => limiter.close()))
})

/** In milliseconds: how long Redis keeps a key, and how far the arrival time in it is ahead of the server's clock. */
const KEPT_AND_AHEAD = `
local time = redis.call('TIME')
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
return { redis.call('PTTL', KEYS[1]), math.floor((used - time[1] * 1000000 - time[2]) / 1000) }
`

testWithRedis('shared limits: the use of a key is kept until all of it is free again', async (t) => {
  const redisUrl = await createRedisDatabase()
  const limiter = await open(redisUrl)
  t.teardown(() => limiter.close())
  const client = await createClient({ url: redisUrl }).connect()
  t.teardown(() => client.destroy())
  await eventually(async () => {
    await limiter.take('warm')
    return (await client.exists('turnpike:test:warm')) === 1
  }, 'the instance counts in Redis')
  for (let sent = 0; sent < LIMIT; sent++) await limiter.take('k')
  const [keptMs, aheadMs] = (await client.eval(KEPT_AND_AHEAD, { keys: ['turnpike:test:k'] })) as [number, number] // safe: the script's
  t.true(aheadMs > 0)
  t.true(keptMs >= aheadMs, `${keptMs} < ${aheadMs}`)
})

testWithRedis('shared limits: while Redis does not answer, an instance counts by itself', async (t) => {
  const redis = await createRedis(t)
  const limiter = await open(redis.url)
  await redis.kill()
  let through = 0
  for (let sent = 0; sent < 2 * LIMIT; sent++) if ((await limiter.take('k')).isAllowed) through++
  t.is(through, LIMIT)
  await limiter.close()
})

test('shared limits: a Redis that was never there holds nothing up', async (t) => {
  const limiter = await open(`redis://127.0.0.1:${await freePort()}`)
  t.true((await limiter.take('k')).isAllowed)
  await limiter.close()
})
