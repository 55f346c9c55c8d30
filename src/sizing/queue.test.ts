import test from 'ava'
import fc from 'fast-check'
import { simulateWaits } from './queue.ts'

const quiet = { requestMicroseconds: 1000, eventMicroseconds: 0, eventsPerRequest: 0 }

test('queue: a process with nothing else to do serves at its own cost', (t) => {
  const { p50Ms, p99Ms } = simulateWaits({ ...quiet, requestsPerSecond: 1 })
  t.true(p50Ms > 0.5 && p50Ms < 1, `${p50Ms}`) // the median of a log-normal lies below its mean
  t.true(p99Ms > 2 && p99Ms < 8, `${p99Ms}`)
})

test('queue: waits grow as Pollaczek and Khinchine say', (t) => {
  // Mean wait in queue = ρ · S · (1 + c²) / 2 (1 − ρ), with c² = e^{0.8²} − 1 of a log-normal; medians lie below means.
  const rho = 0.8
  const mean = (rho * (1 + (Math.exp(0.64) - 1))) / (2 * (1 - rho)) + 1
  const { p50Ms, p99Ms } = simulateWaits({ ...quiet, requestsPerSecond: 800 })
  t.true(p50Ms > mean * 0.4 && p50Ms < mean, `${p50Ms} of ${mean}`)
  t.true(p99Ms > mean * 3 && p99Ms < mean * 9, `${p99Ms} of ${mean}`)
})

test('queue: what cannot be done waits for ever', (t) => {
  t.deepEqual(simulateWaits({ ...quiet, requestsPerSecond: 1000 }), {
    p50Ms: Number.POSITIVE_INFINITY,
    p99Ms: Number.POSITIVE_INFINITY,
  })
})

test('queue: events of streams make requests wait', (t) => {
  const load = { ...quiet, requestsPerSecond: 10, eventsPerRequest: 200 }
  const alone = simulateWaits({ ...load, eventMicroseconds: 1 })
  const among = simulateWaits({ ...load, eventMicroseconds: 400 })
  t.true(among.p99Ms > alone.p99Ms * 1.3, `${among.p99Ms} after ${alone.p99Ms}`)
})

test('queue: more requests never wait less, and a seed gives the same', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 20 }), (rate, events) => {
      const load = { ...quiet, requestsPerSecond: rate, eventsPerRequest: events, eventMicroseconds: 20 }
      const some = simulateWaits(load)
      t.deepEqual(some, simulateWaits(load))
      return simulateWaits({ ...load, requestsPerSecond: rate * 2 }).p99Ms >= some.p99Ms * 0.98
    }),
    { numRuns: 10 },
  )
})
