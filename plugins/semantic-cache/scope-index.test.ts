import test from 'ava'
import fc from 'fast-check'
import { type Entry, ScopeIndex } from './scope-index.ts'
import { Scopes } from './scopes.ts'

const DIMENSIONS = 4

function entry(text: string, expiresAtMs = 1000): Entry {
  return { id: `id of ${text}`, text, storedAtMs: 0, expiresAtMs }
}

const vectorOf = (x: number, y: number) => Int8Array.of(x, y, 0, 0)
const NEAR = { count: 5, leastCosine: 0.5, nowMs: 0 }

test('scope index: gives the nearest first, none that is too far, at most as many as asked for', (t) => {
  const index = new ScopeIndex(DIMENSIONS, 10)
  index.add(entry('far'), vectorOf(0, 127))
  index.add(entry('near'), vectorOf(120, 40))
  index.add(entry('same'), vectorOf(127, 0))
  const texts = (count: number) =>
    index.nearest(vectorOf(127, 0), { ...NEAR, count }).map(({ entry: { text } }) => text)
  t.deepEqual(texts(5), ['same', 'near'])
  t.deepEqual(texts(1), ['same'])
})

test('scope index: what has expired is neither found nor near', (t) => {
  const index = new ScopeIndex(DIMENSIONS, 10)
  index.add(entry('old', 5), vectorOf(127, 0))
  t.truthy(index.find('old', 4))
  t.is(index.nearest(vectorOf(127, 0), { ...NEAR, nowMs: 5 }).length, 0)
  t.is(index.find('old', 5), undefined)
  t.is(index.size, 0)
})

test('scope index: when it is full, what was used longest ago goes', (t) => {
  const index = new ScopeIndex(DIMENSIONS, 2)
  index.add(entry('a'), vectorOf(1, 0))
  index.add(entry('b'), vectorOf(1, 0))
  index.touch(entry('a'))
  index.add(entry('c'), vectorOf(1, 0))
  t.deepEqual(
    ['a', 'b', 'c'].map((text) => index.find(text, 0) !== undefined),
    [true, false, true],
  )
})

test('scope index: after any additions and removals it finds what a plain list finds', (t) => {
  const step = fc.record({
    text: fc.constantFrom(...'abcdefghij'),
    isRemoval: fc.boolean(),
    x: fc.integer({ min: 1, max: 127 }),
  })
  let found = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const index = new ScopeIndex(DIMENSIONS, 100)
      const plain = new Map<string, number>()
      for (const { text, isRemoval, x } of steps) {
        if (isRemoval) index.remove(entry(text))
        else index.add(entry(text), vectorOf(x, 0))
        if (isRemoval) plain.delete(text)
        else plain.set(text, x)
      }
      const all = index.nearest(vectorOf(127, 0), { count: 100, leastCosine: -1, nowMs: 0 })
      const expected = [...plain].map(([text, x]) => `${text} ${x}`).sort()
      found += expected.length
      t.deepEqual(all.map(({ entry: { text }, cosine }) => `${text} ${Math.round(cosine * 127)}`).sort(), expected)
      t.is(index.size, plain.size)
    }),
  )
  t.true(found > 100)
})

test('scopes: hold no more entries than allowed; the scope that was used longest ago goes as a whole', (t) => {
  const scopes = new Scopes(DIMENSIONS, 3)
  scopes.add('one', entry('a'), undefined)
  scopes.add('one', entry('b'), undefined)
  scopes.add('two', entry('a'), undefined)
  t.truthy(scopes.get('one'))
  scopes.add('three', entry('a'), undefined)
  t.is(scopes.entryCount, 3)
  t.is(scopes.get('two'), undefined)
  t.truthy(scopes.get('one')?.find('a', 0))
})
