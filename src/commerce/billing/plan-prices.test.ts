import test from 'ava'
import fc from 'fast-check'
import { creditsFor } from './plan-prices.ts'

const PICOS = 10n ** 12n

test('plan prices: credits are rounded down, also those that a negative amount takes', (t) => {
  const price = { tier: 'pro', unitPicos: 3n * PICOS } as const
  t.deepEqual(
    [-3, -2, -1, 0, 1, 2, 3].map((cents) => creditsFor(cents, 10, price)),
    [-10, -7, -4, 0, 3, 6, 10],
  )
})

test('plan prices: an amount that is returned takes at least the credits that it gave', (t) => {
  const whole = { min: 1, max: 1_000_000 }
  fc.assert(
    fc.property(fc.integer(whole), fc.integer(whole), fc.integer(whole), (cents, credits, unitCents) => {
      const price = { tier: 'pro', unitPicos: BigInt(unitCents) * PICOS } as const
      const given = creditsFor(cents, credits, price)
      const taken = -creditsFor(-cents, credits, price)
      t.true(given * unitCents <= cents * credits && cents * credits <= taken * unitCents)
    }),
  )
})
