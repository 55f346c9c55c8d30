import test from 'ava'
import fc from 'fast-check'
import { leastCachedTokens } from './least-cached.ts'
import { feeOf, periodOf } from './plans.ts'
import { decimalUsd, nanoUsdOfDecimal, toNanoUsd, toUsd } from './usd.ts'

test('usd: a decimal with nine digits is converted exactly, there and back', (t) => {
  const nano = fc.integer({ min: 0, max: 1e13 })
  fc.assert(fc.property(nano, (nanoUsd) => toNanoUsd(toUsd(nanoUsd)) === nanoUsd))
  t.is(toNanoUsd(4.35), 4_350_000_000)
})

test('usd: a limit below a nano-dollar is rounded down', (t) => {
  t.is(toNanoUsd(0.000_000_000_9), 0)
})

test('usd: a text has nine exact digits, and is read back', (t) => {
  t.is(decimalUsd(0), '0.000000000')
  t.is(decimalUsd(-1_500_000_001), '-1.500000001')
  t.is(decimalUsd(Number.MAX_SAFE_INTEGER), '9007199.254740991')
  fc.assert(fc.property(fc.maxSafeInteger(), (nanoUsd) => nanoUsdOfDecimal(decimalUsd(nanoUsd)) === nanoUsd + 0))
})

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

const LEAST: readonly (readonly [model: string, tokens: number])[] = [
  ['claude-sonnet-4-5-20250929', 1024],
  ['claude-sonnet-4-6', 1024],
  ['claude-opus-4-1', 1024],
  ['claude-opus-4-20250514', 1024],
  ['claude-opus-4-5', 4096],
  ['anthropic/claude-opus-4.7', 4096],
  ['claude-opus-4-8', 1024],
  ['claude-haiku-4-5', 4096],
  ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', 4096],
  ['claude-3-5-haiku-20241022', 2048],
  ['gpt-5.6', 1024],
]
for (const [model, tokens] of LEAST)
  test(`least cached: ${model} caches from ${tokens} tokens on`, (t) => {
    t.is(leastCachedTokens(model), tokens)
  })
