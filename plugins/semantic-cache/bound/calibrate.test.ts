import test from 'ava'
import fc from 'fast-check'
import { calibrate, type JudgedPair, neededPairs } from './calibrate.ts'

const clean = (count: number, score = (i: number) => i): JudgedPair[] =>
  Array.from({ length: count }, (_, i) => ({ score: score(i), isWrong: false, weight: 1 }))

test('calibrate: 149 clean pairs prove 2 %, 299 prove 1 %, one fewer does not', (t) => {
  t.is(neededPairs(0.02), 149)
  t.is(neededPairs(0.01), 299)
  for (const delta of [0.02, 0.01]) {
    t.is(calibrate(clean(neededPairs(delta) - 1), delta), undefined)
    t.truthy(calibrate(clean(neededPairs(delta)), delta))
  }
})

test('calibrate: stops before the scores that are wrong', (t) => {
  const bad = clean(400, (i) => -1 - i).map((pair) => ({ ...pair, isWrong: true }))
  const { leastScore = -1, upperBound = 1 } = calibrate([...bad, ...clean(400)], 0.02) ?? {}
  t.true(leastScore >= 0, String(leastScore))
  t.true(upperBound <= 0.02)
})

test('calibrate: pairs of one score are proven together or not at all', (t) => {
  const same = clean(200, () => 1)
  t.is(calibrate([...same, ...clean(50, () => 1).map((pair) => ({ ...pair, isWrong: true }))], 0.02), undefined)
})

test('calibrate: a wrong pair never lowers what may be served, and one with more weight never does less', (t) => {
  let proven = 0
  const pairs = fc.array(
    fc.record({
      score: fc.double({ min: 0, max: 9, noNaN: true }),
      isWrong: fc.constant(false),
      weight: fc.constant(1),
    }),
    {
      minLength: 150,
      maxLength: 400,
    },
  )
  fc.assert(
    fc.property(pairs, fc.nat(), fc.integer({ min: 1, max: 20 }), (right, at, weight) => {
      const turned = (by: number) =>
        right.map((pair, i) => (i === at % right.length ? { ...pair, isWrong: true, weight: by } : pair))
      const leastOf = (list: readonly JudgedPair[]) => calibrate(list, 0.02)?.leastScore ?? Number.POSITIVE_INFINITY
      const [none, light, heavy] = [leastOf(right), leastOf(turned(1)), leastOf(turned(weight))]
      if (none < Number.POSITIVE_INFINITY) proven++
      return none <= light && light <= heavy
    }),
    { numRuns: 60 },
  )
  t.true(proven > 30, `only ${proven} were proven`)
})

test('calibrate: where 4 % are wrong whatever the score, 2 % is proven in one run of twenty at most', (t) => {
  let seed = 4711
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  let opened = 0
  for (let run = 0; run < 300; run++) {
    const pairs = Array.from({ length: 1000 }, () => ({ score: random(), isWrong: random() < 0.04, weight: 1 }))
    if (calibrate(pairs, 0.02) !== undefined) opened++
  }
  t.true(opened <= 0.05 * 300, `${opened} of 300`)
})
