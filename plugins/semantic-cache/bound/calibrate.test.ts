import test from 'ava'
import fc from 'fast-check'
import { calibrate, type JudgedPair, neededPairs, newestOf } from './calibrate.ts'

const DELTA = 0.02
/** Above both starts: counts for every level. */
const HIGH = 9
/** Below the second start. */
const LOW = 3

const judged = (count: number, { score = HIGH, isWrong = false } = {}): JudgedPair[] =>
  Array.from({ length: count }, () => ({ score, isWrong }))

/** Lehmer's generator, between 0 and 1. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

test('calibrate: 225 clean pairs prove 2 %, 453 prove 1 %, one fewer does not', (t) => {
  t.is(neededPairs(0.02), 225)
  t.is(neededPairs(0.01), 453)
  // Between the starts, so that one of them counts.
  const score = 5
  for (const delta of [0.02, 0.01]) {
    t.is(calibrate(judged(neededPairs(delta) - 1, { score: score + 0.7 }), delta), undefined)
    t.truthy(calibrate(judged(neededPairs(delta), { score: score + 0.7 }), delta))
  }
})

test('calibrate: stops before the scores that are wrong', (t) => {
  const { leastScore = -1, upperBound = 1 } =
    calibrate([...judged(400, { score: LOW, isWrong: true }), ...judged(400)], DELTA) ?? {}
  t.true(leastScore > LOW, String(leastScore))
  t.true(upperBound <= DELTA)
})

test('calibrate: goes down to scores that are right, and no further than has been proven', (t) => {
  const { leastScore = 99 } = calibrate([...judged(300), ...judged(300, { score: LOW })], DELTA) ?? {}
  t.true(leastScore <= LOW, String(leastScore))
})

test('calibrate: scores below the starts prove nothing by themselves', (t) => {
  t.is(calibrate(judged(5000, { score: LOW }), DELTA), undefined)
})

test('calibrate: a wrong pair never lowers what may be served, a right one never raises it', (t) => {
  let proven = 0
  const scores = fc.array(
    fc.integer({ min: 0, max: 120 }).map((tenths) => tenths / 10),
    { minLength: 600, maxLength: 900 },
  )
  fc.assert(
    fc.property(scores, fc.nat(), (list, at) => {
      const right = list.map((score) => ({ score, isWrong: false }))
      const leastOf = (pairs: readonly JudgedPair[]) => calibrate(pairs, DELTA)?.leastScore ?? Number.POSITIVE_INFINITY
      const score = list[at % list.length] ?? 0
      const none = leastOf(right)
      if (none < Number.POSITIVE_INFINITY) proven++
      return (
        leastOf([...right, { score, isWrong: true }]) >= none && leastOf([...right, { score, isWrong: false }]) <= none
      )
    }),
    { numRuns: 60 },
  )
  t.true(proven > 30, `only ${proven} were proven`)
})

test('newestOf: keeps 500 of each level, in their order, whatever was found of them', (t) => {
  const pairs = Array.from({ length: 4000 }, (_, i) => ({ score: i < 100 ? HIGH : LOW, isWrong: i % 7 === 0 }))
  t.deepEqual(newestOf(pairs, DELTA), [...pairs.slice(0, 100), ...pairs.slice(-500)])
})

/** Looks again after every tenth pair, and says whether any look has opened. */
function everOpens(random: () => number, wrongShare: number): boolean {
  const pairs: JudgedPair[] = []
  for (let i = 0; i < 1500; i++) {
    pairs.push({ score: 8 * random(), isWrong: random() < wrongShare })
    if (i % 10 === 0 && calibrate(pairs, DELTA) !== undefined) return true
  }
  return false
}

test('calibrate: where 2 % are wrong whatever the score, not one stream in twenty is ever opened, however often one looks', (t) => {
  const random = createRandom(4711)
  const opened = Array.from({ length: 200 }, () => everOpens(random, DELTA)).filter(Boolean).length
  t.true(opened <= 0.05 * 200, `${opened} of 200`)
})

test('calibrate: where 0.2 % are wrong, most streams are opened', (t) => {
  const random = createRandom(4712)
  const opened = Array.from({ length: 40 }, () => everOpens(random, 0.002)).filter(Boolean).length
  t.true(opened >= 30, `${opened} of 40`)
})
