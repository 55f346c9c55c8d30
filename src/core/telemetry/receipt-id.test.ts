import test from 'ava'
import fc from 'fast-check'
import { createReceiptId, ID_RANDOM_BYTES, RECEIPT_ID } from './receipt-id.ts'

const moment = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const random = fc.uint8Array({ minLength: ID_RANDOM_BYTES, maxLength: ID_RANDOM_BYTES })

test('receipt id: has its form and sorts by time', (t) => {
  fc.assert(
    fc.property(moment, moment, random, random, (one, other, r1, r2) => {
      const [a, b] = [createReceiptId(one, r1), createReceiptId(other, r2)]
      t.regex(a, RECEIPT_ID)
      if (one !== other) t.is(a < b, one < other)
    }),
  )
})

test('receipt id: every bit of randomness counts', (t) => {
  const ids = Array.from({ length: ID_RANDOM_BYTES * 8 }, (_, bit) => {
    const bytes = new Uint8Array(ID_RANDOM_BYTES)
    bytes[bit >> 3] = 1 << (bit & 7)
    return createReceiptId(1, bytes)
  })
  t.is(new Set([...ids, createReceiptId(1, new Uint8Array(ID_RANDOM_BYTES))]).size, ID_RANDOM_BYTES * 8 + 1)
})

test('receipt id: its time is encoded in base 32', (t) => {
  t.is(createReceiptId(32 ** 9 + 31, new Uint8Array(10)), 'rcpt_100000000z0000000000000000')
})
