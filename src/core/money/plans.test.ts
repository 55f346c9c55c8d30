import test from 'ava'
import { feeOf, periodOf } from './plans.ts'

test('plans: calls are included up to the last, and cost credits or are refused after it', (t) => {
  const plan = { includedCalls: 2, creditsPerCall: 10 }
  t.deepEqual(
    [0, 1, 2, 3].map((used) => feeOf(plan, used)),
    [0, 0, 10, 10],
  )
  t.is(feeOf({ includedCalls: 2, creditsPerCall: undefined }, 2), undefined)
  t.is(feeOf({ includedCalls: 0, creditsPerCall: 0 }, 5), 0)
})

test('plans: free accounts have UTC months, to the millisecond', (t) => {
  const free = { tier: 'free', periodStartMs: 5, periodEndMs: 6 } as const
  const newYear = Date.UTC(2027, 0, 1)
  t.deepEqual(periodOf(free, newYear - 1), { windowId: 'm:2026-12', endsAtMs: newYear })
  t.deepEqual(periodOf(free, newYear), { windowId: 'm:2027-01', endsAtMs: Date.UTC(2027, 1, 1) })
})

test('plans: paid accounts have their paid periods, and months while none is known', (t) => {
  const pro = { tier: 'pro', periodStartMs: 100, periodEndMs: 200 } as const
  t.deepEqual(periodOf(pro, 199), { windowId: 'p:100', endsAtMs: 200 })
  t.deepEqual(periodOf(pro, 200), { windowId: 'p:200', endsAtMs: undefined })
  t.deepEqual(periodOf({ ...pro, periodEndMs: null }, 999), { windowId: 'p:100', endsAtMs: undefined })
  t.is(periodOf({ ...pro, periodStartMs: null, periodEndMs: null }, 0).windowId, 'm:1970-01')
})
