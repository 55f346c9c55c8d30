import test from 'ava'
import fc from 'fast-check'
import { createReceiptId, ID_RANDOM_BYTES, RECEIPT_ID } from './receipt-id.ts'
import { spanIdOf, traceContextOf, traceparentFor } from './trace-context.ts'

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

const TRACE = `${'a'.repeat(31)}1`
const PARENT = 'b'.repeat(16)
const of = (traceparent: string | undefined) => traceContextOf('req_0123', { traceparent })

test('trace context: of the flags only the first bit is that of sampling', (t) => {
  const samples = { '00': false, '01': true, '02': false, '03': true, fe: false, ff: true }
  for (const [flags, isSampled] of Object.entries(samples))
    t.deepEqual(of(`00-${TRACE}-${PARENT}-${flags}`), { traceId: TRACE, parentId: PARENT, isSampled }, flags)
})

test('trace context: a later version may have more, and a malformed one begins a trace', (t) => {
  t.is(of(`01-${TRACE}-${PARENT}-01-more`).traceId, TRACE)
  const zeros = '0'.repeat(32)
  for (const malformed of [
    undefined,
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${zeros}-${PARENT}-01`,
    `00-${TRACE}-${zeros.slice(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
  ])
    t.deepEqual(of(malformed), { traceId: '0123', parentId: undefined, isSampled: true }, String(malformed))
})

test('trace context: the provider gets the trace, the span of its own call, and the decision', (t) => {
  const sent = (flags: string) => traceparentFor('req_0123', { traceparent: `00-${TRACE}-${PARENT}-${flags}` })
  t.is(sent('03'), `00-${TRACE}-${spanIdOf('req_0123', 'provider')}-01`)
  t.is(sent('02'), `00-${TRACE}-${spanIdOf('req_0123', 'provider')}-00`)
  t.not(spanIdOf('req_0123', 'provider'), spanIdOf('req_0123', 'server'))
  t.not(spanIdOf('req_0123', 'provider'), spanIdOf('req_0124', 'provider'))
})
