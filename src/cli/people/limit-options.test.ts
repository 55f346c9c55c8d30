import test from 'ava'
import { limitsAfter } from './limit-options.ts'

const CURRENT = { costPerDay: 1, models: ['claude-*'] }

test('limits: those that are given replace the current ones, and the others stay', (t) => {
  t.deepEqual(limitsAfter(CURRENT, { perDay: '5', limits: true }), { costPerDay: 5, models: ['claude-*'] })
  t.deepEqual(limitsAfter(undefined, { perMinute: '60', limits: true }), { requestsPerMinute: 60 })
  t.is(limitsAfter(CURRENT, { limits: true }), undefined)
})

test('limits: --no-limits leaves those that are given', (t) => {
  t.deepEqual(limitsAfter(CURRENT, { modules: 'compress, redact', limits: false }), { modules: ['compress', 'redact'] })
  t.is(limitsAfter(CURRENT, { limits: false }), null)
})
