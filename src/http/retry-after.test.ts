import test from 'ava'
import { retryAfter } from './retry-after.ts'

test('retry-after: a client that waits as long as it names is admitted', (t) => {
  const waits = { 0: '0', 1: '1', 400: '1', 999: '1', 1000: '1', 1001: '2', 1400: '2', 59999: '60' }
  for (const [ms, text] of Object.entries(waits)) t.is(retryAfter(Number(ms)), text, ms)
  t.is(retryAfter(0.001), '1')
})
