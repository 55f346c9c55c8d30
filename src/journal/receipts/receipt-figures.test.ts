import test from 'ava'
import { toReceiptFigures } from './receipt-figures.ts'

test('receipt figures: counts and single words alone, at most 32', (t) => {
  const others = { text: 'Anna Schmidt', digits: 'a1', half: 0.5, less: -1, Name: 1, nested: { a: 1 }, none: undefined }
  t.deepEqual(toReceiptFigures({ mode: 'redact', email: 2, ...others }), { mode: 'redact', email: 2 })
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, i]))
  t.is(Object.keys(toReceiptFigures(many)).length, 32)
})
