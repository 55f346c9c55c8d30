import test from 'ava'
import fc from 'fast-check'
import type { Entry } from './entry.ts'
import { ScopeIndex } from './scope-index.ts'
import { Scopes } from './scopes.ts'

const DIMENSIONS = 4

function entry(text: string, expiresAtMs = 1000): Entry {
  return { id: `id of ${text}`, text, storedAtMs: 0, expiresAtMs }
}

const vectorOf = (x: number, y: number) => Int8Array.of(x, y, 0, 0)
const NEAR = { count: 5, leastCosine: 0.5, nowMs: 0 }

test('scope index: gives the nearest first, none that is too far, at most as many as asked for', (t) => {
  const index = new ScopeIndex(DIMENSIONS, { entries: 10 })
  index.add(entry('far'), vectorOf(0, 127))
  index.add(entry('near'), vectorOf(120, 40))
  index.add(entry('same'), vectorOf(127, 0))
  const texts = (count: number) =>
    index.nearest(vectorOf(127, 0), { ...NEAR, count }).map(({ entry: { text } }) => text)
  t.deepEqual(texts(5), ['same', 'near'])
  t.deepEqual(texts(1), ['same'])
})

test('scope index: what has expired is neither found nor near', (t) => {
  const index = new ScopeIndex(DIMENSIONS, { entries: 10 })
  index.add(entry('old', 5), vectorOf(127, 0))
  t.truthy(index.find('old', 4))
  t.is(index.nearest(vectorOf(127, 0), { ...NEAR, nowMs: 5 }).length, 0)
  t.is(index.find('old', 5), undefined)
  t.is(index.size, 0)
})

test('scope index: when it is full, what was used longest ago goes', (t) => {
  const index = new ScopeIndex(DIMENSIONS, { entries: 2 })
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
      const index = new ScopeIndex(DIMENSIONS, { entries: 100 })
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

const KB = 1024
const long = (name: string) => name + 'x'.repeat(10 * KB)

test('scope index: when its texts take too many bytes, what was used longest ago goes', (t) => {
  const index = new ScopeIndex(DIMENSIONS, { entries: 1000, bytes: 64 * KB })
  const dropped = Array.from({ length: 20 }, (_, i) => index.add(entry(long(`${i} `)), vectorOf(1, 0)).dropped).flat()
  t.true(index.bytes <= 64 * KB)
  t.true(index.size >= 5)
  t.deepEqual(dropped.length, 20 - index.size)
  t.truthy(index.find(long('19 '), 0))
  t.is(index.find(long('0 '), 0), undefined)
})

test('scope index: an entry that is removed, replaced or expired takes no bytes any more', (t) => {
  const index = new ScopeIndex(DIMENSIONS, { entries: 1000 })
  const before = index.bytes
  for (const text of ['a', long('b'), 'ж'.repeat(100)]) index.add(entry(text), vectorOf(3, 4))
  for (const text of ['a', long('b')]) index.add({ ...entry(text), id: 'new', storedAtMs: 1 }, undefined)
  index.remove(entry(long('b')))
  index.remove(entry('a'))
  t.is(index.find('ж'.repeat(100), 1000), undefined)
  t.is(index.bytes, before)
})

test('scopes: hold no more bytes than allowed, in many scopes as in one, with or without lessons', (t) => {
  const maxBytes = 200 * KB
  const scopes = new Scopes(DIMENSIONS, 100_000, { maxBytes })
  for (let i = 0; i < 100; i++) scopes.add(`scope ${i}`, entry(long('a')), undefined)
  t.true(scopes.bytes <= maxBytes && scopes.bytes > maxBytes / 2, `${scopes.bytes}`)
  for (let i = 0; i < 100; i++) scopes.add('one', entry(long(`${i} `)), undefined)
  t.true(scopes.bytes <= maxBytes && scopes.bytes > maxBytes / 2, `${scopes.bytes}`)
  for (let i = 0; i < 10_000; i++) scopes.block(`scope ${i % 100}`, `text ${i}`, 'reply')
  t.true(scopes.bytes <= maxBytes, `${scopes.bytes}`)
  t.true(scopes.entryCount > 0)
})

test('scopes: entries that expired at a look-up are not counted for ever', (t) => {
  const scopes = new Scopes(DIMENSIONS, 100)
  for (let i = 0; i < 50; i++) {
    scopes.add('one', entry('a', 5), undefined)
    t.is(scopes.get('one')?.find('a', 5), undefined)
  }
  scopes.add('one', entry('b'), undefined)
  t.is(scopes.entryCount, 1)
})
