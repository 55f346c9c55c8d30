import test from 'ava'
import fc from 'fast-check'
import { cosineOf } from './cosine.ts'
import { VectorList } from './vector-list.ts'

const DIMENSIONS = 512
/** Beyond one block. */
const MOST_PLACES = 1100

const component = fc.integer({ min: -127, max: 127 })
const sparse = fc.array(fc.tuple(fc.nat(DIMENSIONS - 1), component), { maxLength: 90 }).map((pairs) =>
  vectorOf((vector) => {
    for (const [i, value] of pairs) vector[i] = value
  }),
)
const whole = fc
  .array(component, { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .map((components) => Int8Array.from(components))
const step = fc.record({
  /** Of those that are there, or the next one. */
  place: fc.nat(MOST_PLACES),
  vector: fc.oneof(sparse, whole, fc.constant(undefined)),
})

function vectorOf(fill: (vector: Int8Array) => void): Int8Array {
  const vector = new Int8Array(DIMENSIONS)
  fill(vector)
  return vector
}

test('vector list: gives back what was put there, and its cosine, whatever else was put elsewhere', (t) => {
  let seenWhole = 0
  let seenSparse = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), sparse, (steps, asked) => {
      const list = new VectorList(DIMENSIONS)
      const expected: (Int8Array | undefined)[] = []
      for (; expected.length < MOST_PLACES - 40; expected.push(asked)) list.set(expected.length, asked)
      for (const { place, vector } of steps) {
        const at = Math.min(place, expected.length)
        list.set(at, vector)
        expected[at] = vector
        if (vector?.every((value) => value !== 0)) seenWhole++
        else if (vector !== undefined) seenSparse++
      }
      for (const [place, vector = new Int8Array(DIMENSIONS)] of expected.entries()) {
        if (vector === asked && place % 100 !== 0) continue
        t.deepEqual(list.at(place) ?? new Int8Array(DIMENSIONS), vector)
        t.is(list.cosine(asked, place), cosineOf(asked, vector))
      }
    }),
    { numRuns: 60 },
  )
  t.true(seenSparse > 50 && seenWhole > 0)
})

test('vector list: distant components are not lost', (t) => {
  const list = new VectorList(DIMENSIONS)
  const far = vectorOf((vector) => {
    vector[0] = 90
    vector[511] = -90
  })
  list.set(0, far)
  t.deepEqual(list.at(0), far)
  t.is(list.cosine(far, 0), cosineOf(far, far))
})
