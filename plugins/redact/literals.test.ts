import test from 'ava'
import { LiteralFinder } from './literals.ts'

const foundIn = (text: string, literals: readonly string[]) =>
  new LiteralFinder(literals.map((literal) => ({ text: literal, kind: 'custom' as const })))
    .find(text)
    .map(({ start, end }) => text.slice(start, end))

test('literals: whole words, the longest at each place', (t) => {
  t.deepEqual(foundIn('ab abc abcd xab "ab" ab_c', ['ab', 'abc']), ['ab', 'abc', 'ab', 'ab'])
  t.deepEqual(foundIn(String.raw`a\nsecret1`, ['secret1']), ['secret1'])
  t.deepEqual(foundIn('$x$x', ['$x$']), ['$x$'])
  t.deepEqual(foundIn('-$x$-', ['$x$']), ['$x$'])
})

test('literals: thousands with one beginning are looked up by their lengths', (t) => {
  const literals = Array.from({ length: 10_000 }, (_, i) => `user${i}@acme.io`)
  t.is(foundIn(`${literals.join(' ')} `.repeat(5), literals).length, 50_000)
})
