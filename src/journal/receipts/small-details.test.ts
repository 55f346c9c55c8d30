import test from 'ava'
import fc from 'fast-check'
import { toReceiptFigures } from './receipt-figures.ts'
import { smallDetails } from './small-details.ts'

const MOST_BYTES = 64 * 1024

test('details: small values are kept unchanged', (t) => {
  const details = { heldUsd: 0.25, kept: ['a', 'b'], more: { of: { it: true } }, nothing: null }
  t.deepEqual(smallDetails(details), details)
})

test('details: large or deep values are cut, visibly', (t) => {
  const { text, list, deep } = smallDetails({
    text: 'x'.repeat(10_000),
    list: Array.from({ length: 1000 }, (_, i) => i),
    deep: { a: { b: { c: 1 }, l: [1, 2] } },
  })
  t.is(String(text).length, 120)
  t.is((list as unknown[]).length, 16)
  t.deepEqual(deep, { a: { b: '{…}', l: '[2]' } })
})

test('details: values that are not plain data become their type’s name, and never throw', (t) => {
  const circle: Record<string, unknown> = { big: 10n ** 30n, fn: () => {}, not: Number.NaN, symbol: Symbol('s') }
  circle.self = circle
  const told = JSON.parse(JSON.stringify(smallDetails(circle)))
  t.like(told, { big: `1${'0'.repeat(30)}`, fn: 'function', not: 'NaN', symbol: 'symbol' })
})

test('details: an unreadable value is reported as unreadable', (t) => {
  const trap = {
    get secret() {
      throw new Error('no')
    },
  }
  t.deepEqual(smallDetails(trap), { unreadable: true })
})

test('details: the copy is small, whatever was recorded', (t) => {
  const noted = fc.dictionary(fc.string({ maxLength: 300 }), fc.anything({ maxDepth: 5, maxKeys: 40 }), {
    maxKeys: 40,
    size: 'max',
  })
  fc.assert(
    fc.property(noted, (details) => {
      t.true((JSON.stringify(smallDetails(details)) ?? '').length < MOST_BYTES)
    }),
  )
})

test('receipt figures: counts and single words alone, at most 32', (t) => {
  const others = { text: 'Anna Schmidt', digits: 'a1', half: 0.5, less: -1, Name: 1, nested: { a: 1 }, none: undefined }
  t.deepEqual(toReceiptFigures({ mode: 'redact', email: 2, ...others }), { mode: 'redact', email: 2 })
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, i]))
  t.is(Object.keys(toReceiptFigures(many)).length, 32)
})
