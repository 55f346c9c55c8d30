import test from 'ava'
import fc from 'fast-check'
import { GATEWAY_BOUNDS_MS, gatewayClassOf, quantileOf } from './time-buckets.ts'

const LARGEST_MS = GATEWAY_BOUNDS_MS.at(-1) ?? 0

test('gateway times: a bound belongs to the bucket below it', (t) => {
  t.deepEqual([0, 0.1, 0.11, 5000, 5000.1].map(gatewayClassOf), [0, 0, 1, 14, 15])
})

test('gateway times: nothing counted has no quantile', (t) => {
  t.is(quantileOf([], 0.5), undefined)
  t.is(quantileOf([0, 0, 0], 0.5), undefined)
})

test('gateway times: a quantile lies in the bucket of the true one', (t) => {
  const times = fc.array(fc.double({ min: 0, max: 6000, noNaN: true }), { minLength: 1, maxLength: 200 })
  const check = (ms: readonly number[], share: number) => {
    const counts = Array.from({ length: GATEWAY_BOUNDS_MS.length + 1 }, () => 0)
    for (const each of ms) counts[gatewayClassOf(each)]!++
    const sorted = ms.toSorted((a, b) => a - b)
    const truth = sorted[Math.max(0, Math.ceil(share * ms.length) - 1)]!
    const result = quantileOf(counts, share)!
    if (truth > LARGEST_MS) return t.is(result, LARGEST_MS)
    const index = gatewayClassOf(truth)
    t.true(
      result >= (GATEWAY_BOUNDS_MS[index - 1] ?? 0) && result <= GATEWAY_BOUNDS_MS[index]!,
      `${result} for ${truth}`,
    )
  }
  fc.assert(fc.property(times, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), check))
})
