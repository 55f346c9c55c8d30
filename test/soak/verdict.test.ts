import test from 'ava'
import { isDrill } from '../support/drill.ts'
import { createChance } from './random.ts'
import { quantile, slopeOf, theilSen } from './statistics.ts'
import { judgeLatency, judgeSeries, judgeTraffic } from './verdict.ts'

const DAYS = isDrill ? 20 : 8
const SAMPLES = 144
const LATENCY_DAYS = 6
const MB = 2 ** 20

/** Returns the resident memory of a day: a warm-up, saw teeth, slow waves and outliers; and a leak, in bytes a day. */
function memoryOfDay(seed: number, leak: number) {
  const chance = createChance(seed)
  let wave = 0
  return Array.from({ length: SAMPLES }, (_, index) => {
    const at = index / (SAMPLES - 1)
    wave = 0.8 * wave + 6 * MB * (chance.next() - 0.5)
    const teeth = 25 * MB * ((index % 7) / 7)
    const outlier = chance.happens(0.03) ? 80 * MB : 0
    return { at, value: 200 * MB + 60 * MB * Math.min(1, at * 4) + teeth + wave + outlier + leak * at }
  })
}

const mayGrow = { share: 0.1, amount: 8 * MB }

/** Returns in how many days a leak of so many bytes a day is found. */
function found(leak: number): number {
  const days = Array.from({ length: DAYS }, (_, seed) => memoryOfDay(seed, leak))
  const findings = days.map((samples, seed) => judgeSeries({ name: 'memory', unit: 'bytes', mayGrow, samples }, seed))
  return findings.filter(({ isFine }) => !isFine).length
}

test('soak: a leak of a quarter of the memory a day is found, and noise is none', (t) => {
  const counts = { none: found(0), small: found(3 * MB), large: found(65 * MB) }
  t.log(counts)
  t.true(counts.none <= 1 && counts.small <= 1, 'at most one false alarm')
  t.true(counts.large >= DAYS - 1)
})

test('soak: a warm-up in the first half is no leak', (t) => {
  const samples = Array.from({ length: SAMPLES }, (_, index) => ({ at: index / SAMPLES, value: Math.min(index, 50) }))
  t.true(judgeSeries({ name: 'rows', unit: 'count', mayGrow: { share: 0, amount: 0 }, samples }, 1).isFine)
})

test('soak: the slope is that of the line, whatever a fifth of the samples are', (t) => {
  const line = Array.from({ length: 50 }, (_, at) => ({ at, value: at % 5 === 0 ? 1e6 : 3 * at + 7 }))
  t.true(Math.abs(theilSen(line) - 3) < 1e-9)
  t.is(theilSen([{ at: 1, value: 5 }]), 0)
})

test('soak: the interval holds the slope that noise was laid over', (t) => {
  let held = 0
  for (let seed = 0; seed < DAYS; seed++) {
    const chance = createChance(seed)
    const samples = Array.from({ length: 40 }, (_, index) => ({
      at: index / 40,
      value: 5 * index + 60 * chance.next(),
    }))
    const { low, high } = slopeOf(samples, { chance, confidence: 0.95 })
    if (low <= 200 && 200 <= high) held++
  }
  t.log({ held })
  t.true(held >= 0.8 * DAYS)
})

test('soak: p99 that rises by two thirds is found, and one that trembles is not', (t) => {
  const latencies = (seed: number, growth: number) => {
    const chance = createChance(seed)
    return Array.from({ length: 64 }, (_, index) => {
      const slow = 1 + chance.next()
      return Array.from({ length: 60 }, () => (slow + chance.waitMs(2)) * (1 + growth * (index / 64)))
    })
  }
  const alarms = (growth: number) =>
    Array.from({ length: LATENCY_DAYS }, (_, seed) => judgeLatency(latencies(seed, growth), seed)).filter(
      (each) => !each.isFine,
    ).length
  const counts = { steady: alarms(0), growing: alarms(3) }
  t.log(counts)
  t.is(counts.steady, 0)
  t.is(counts.growing, LATENCY_DAYS)
})

test('soak: a day whose traffic changed is no proof', (t) => {
  const day = (last: number) => Array.from({ length: 100 }, (_, index) => Array(index < 75 ? 20 : last).fill(1))
  t.deepEqual(
    [20, 17, 12, 30].map((last) => judgeTraffic(day(last)).isFine),
    [true, true, false, false],
  )
})

test('soak: too few samples are reported as too few', (t) => {
  const samples = memoryOfDay(1, 900 * MB).slice(-20)
  t.deepEqual(
    [judgeSeries({ name: 'memory', unit: 'bytes', mayGrow, samples }, 1), judgeLatency([[1], [2]], 1)].map(
      ({ cells }) => cells[1],
    ),
    ['too short to tell', 'too short to tell'],
  )
})

test('soak: a quantile lies between its neighbours', (t) => {
  t.is(quantile([4, 1, 3, 2], 0.5), 2.5)
  t.is(quantile([1, 2, 3], 1), 3)
  t.true(Number.isNaN(quantile([], 0.5)))
})
