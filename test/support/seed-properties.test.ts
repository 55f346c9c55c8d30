import test from 'ava'
import fc from 'fast-check'
import { isDrill } from './drill.ts'

test('properties: all have one seed, except in drills', (t) => {
  t.is(typeof fc.readConfigureGlobal()?.seed, isDrill ? 'undefined' : 'number')
})

test('properties: all run 200 times at most, except in drills and with a seed of their own', (t) => {
  const runs = (parameters: { numRuns: number; seed?: number }) =>
    fc.check(
      fc.property(fc.nat(), () => {}),
      parameters,
    ).numRuns
  t.is(runs({ numRuns: 500 }), isDrill ? 500 : 200)
  t.is(runs({ numRuns: 500, seed: 1 }), 500)
  t.is(runs({ numRuns: 40 }), 40)
})
