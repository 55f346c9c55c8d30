import test from 'ava'
import type { Finding } from './detect/finding.ts'
import { KnownTexts } from './known-texts.ts'
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

const LONG = 'Words and words. '.repeat(40)

test('redact: a long text of an earlier turn is scanned once for each caller and kinds, a short one each time', (t) => {
  const scanned: string[] = []
  const findings: Finding[] = [{ start: 0, end: 5, kind: 'custom' }]
  const scan = (text: string) => {
    scanned.push(text)
    return findings
  }
  const known = new KnownTexts()
  for (const scope of ['a email', 'a email', 'b email', 'a email iban'])
    t.is(known.remembering(scan, scope)(LONG), findings)
  t.is(scanned.length, 3)
  for (const text of ['short', 'short']) known.remembering(scan, 'a email')(text)
  // Equal in UTF-8, different texts.
  for (const text of [`${LONG}\ud800`, `${LONG}\udc00`]) known.remembering(scan, 'a email')(text)
  t.is(scanned.length, 7)
})
