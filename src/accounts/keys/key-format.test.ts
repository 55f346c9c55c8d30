import test from 'ava'
import fc from 'fast-check'
import { createKey, createKeyId, isKeyId, isWellFormedKey, looksLikeKey, prefixOf } from './key-format.ts'

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const letter = fc.constantFrom(...LETTERS)
const key = fc.constantFrom('svc', 'acme', 'a1').map(createKey)

test('key format: created keys are well-formed, of their own kind, and unique', (t) => {
  const keys = Array.from({ length: 2000 }, () => createKey('svc'))
  t.is(new Set(keys).size, keys.length)
  for (const made of keys) {
    t.regex(made, /^svc_live_[0-9A-Za-z]{38}$/)
    t.true(isWellFormedKey(made) && looksLikeKey(made))
    t.is(prefixOf(made), made.slice(0, 11))
  }
})

test('key format: all random characters are about equally frequent', (t) => {
  const counts = new Map<string, number>()
  for (let i = 0; i < 2000; i++)
    for (const each of createKey('svc').slice(9, 41)) counts.set(each, (counts.get(each) ?? 0) + 1)
  const expected = (2000 * 32) / LETTERS.length
  t.is(counts.size, LETTERS.length)
  // Six standard deviations: one of 62 exceeds them once in ten million runs.
  for (const count of counts.values()) t.true(Math.abs(count - expected) < 6 * Math.sqrt(expected), String(count))
})

test('key format: a wrong character, at any place, is detected', (t) => {
  fc.assert(
    fc.property(key, fc.nat({ max: 37 }), letter, (made, at, other) => {
      const start = made.indexOf('_live_') + 6
      fc.pre(made[start + at] !== other)
      t.false(isWellFormedKey(made.slice(0, start + at) + other + made.slice(start + at + 1)))
    }),
  )
})

test('key format: swapped, missing and additional characters are detected', (t) => {
  fc.assert(
    fc.property(key, fc.integer({ min: 9, max: 40 }), letter, (made, at, other) => {
      const [a, b] = [made[at] ?? '', made[at + 1] ?? '']
      if (a !== b) t.false(isWellFormedKey(made.slice(0, at) + b + a + made.slice(at + 2)))
      t.false(isWellFormedKey(made.slice(0, at) + other + made.slice(at)))
      t.false(isWellFormedKey(made.slice(0, at) + made.slice(at + 1)))
    }),
  )
})

test('key format: guesses of the right form are detected', (t) => {
  let refused = 0
  fc.assert(
    fc.property(fc.array(letter, { minLength: 38, maxLength: 38 }), (letters) => {
      refused += Number(!isWellFormedKey(`svc_live_${letters.join('')}`))
    }),
    { numRuns: 200 },
  )
  t.is(refused, 200)
})

test('key format: ids are recognised, other texts are not', (t) => {
  t.true(isKeyId(createKeyId()))
  for (const text of ['', 'key_', `${createKeyId()}a`, `${createKeyId()}\n`, createKeyId().toUpperCase(), '__proto__'])
    t.false(isKeyId(text))
})
