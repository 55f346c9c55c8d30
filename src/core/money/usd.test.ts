import test from 'ava'
import fc from 'fast-check'
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
