import test from 'ava'
import fc from 'fast-check'
import { memoryLimiter } from './memory.ts'

const clock = { at: 0, nowMs: () => clock.at }

function limiterAt(rule: { limit: number; windowMs: number }, time: { nowMs: number }) {
  return memoryLimiter(rule, { nowMs: () => time.nowMs })
}

/** Takes at these times; returns those that were admitted. */
function admitted(rule: { limit: number; windowMs: number }, moments: readonly number[]): number[] {
  const time = { nowMs: 0 }
  const limiter = limiterAt(rule, time)
  return moments.filter((moment) => {
    time.nowMs = moment
    const decision = limiter.take('k')
    return 'isAllowed' in decision && decision.isAllowed
  })
}

test('rate limit: a window’s worth may come at once, and then one per interval', (t) => {
  const rule = { limit: 4, windowMs: 1000 }
  t.deepEqual(admitted(rule, [0, 0, 0, 0, 0, 249, 250, 250, 499, 500]), [0, 0, 0, 0, 250, 500])
})

test('rate limit: no edge between windows lets two windows’ worth through', (t) => {
  const moments = [...Array(10).fill(990), ...Array(10).fill(1010)]
  t.is(admitted({ limit: 10, windowMs: 1000 }, moments).length, 10)
})

const moments = fc
  .array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 })
  .map((gaps) => gaps.map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0)))
const rule = fc.record({ limit: fc.integer({ min: 1, max: 20 }), windowMs: fc.integer({ min: 100, max: 5000 }) })

test('rate limit: any window holds at most the burst and the refill', (t) => {
  fc.assert(
    fc.property(rule, moments, (given, at) => {
      const taken = admitted(given, at)
      for (const start of taken) {
        const inside = taken.filter((moment) => moment >= start && moment < start + given.windowMs).length
        t.true(inside <= 2 * given.limit)
      }
      // Over the whole time: the burst, and one each interval.
      const span = (taken.at(-1) ?? 0) - (taken[0] ?? 0)
      t.true(taken.length <= given.limit + Math.floor((span * given.limit) / given.windowMs) + 1)
    }),
  )
})

test('rate limit: a caller that keeps to the interval is never refused', (t) => {
  fc.assert(
    fc.property(rule, fc.integer({ min: 1, max: 100 }), (given, count) => {
      const interval = given.windowMs / given.limit
      const at = Array.from({ length: count }, (_, index) => index * interval)
      t.is(admitted(given, at).length, count)
    }),
  )
})

test('rate limit: it reports correctly how many more would be admitted', (t) => {
  fc.assert(
    fc.property(rule, moments, (given, at) => {
      const time = { nowMs: 0 }
      const limiter = limiterAt(given, time)
      for (const moment of at) {
        time.nowMs = moment
        const said = limiter.take('k')
        if (!('remaining' in said)) return t.fail()
        if (said.isAllowed) t.is(said.retryMs <= 1e-6, said.remaining > 0)
        else t.is(said.remaining, 0)
      }
    }),
  )
})

test('rate limit: keys are independent', (t) => {
  clock.at = 0
  const limiter = memoryLimiter({ limit: 1, windowMs: 1000 }, clock)
  for (const [key, isAllowed] of [
    ['a', true],
    ['b', true],
    ['a', false],
  ] as const)
    t.like(limiter.take(key), { isAllowed })
})
