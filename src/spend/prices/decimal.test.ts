import test from 'ava'
import fc from 'fast-check'
import { divideUp, scaleUp } from './decimal.ts'

for (const [value, exponent, expected] of [
  [3, 6, 3_000_000n],
  [0.0375, 6, 37_500n],
  [0.1, 1, 1n],
  [1.1, 6, 1_100_000n],
  [1e-7, 6, 1n],
  [1e21, 0, 10n ** 21n],
  [0.08333333333333334, 6, 83_334n],
  [0, 6, 0n],
] as const) {
  test(`scaleUp: ${value} times 10^${exponent} is ${expected}`, (t) => {
    t.is(scaleUp(value, exponent), expected)
  })
}

test('scaleUp: refuses a value that is no price', (t) => {
  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => scaleUp(value, 6), { instanceOf: RangeError })
})

test('divideUp: is the smallest integer not below the quotient', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      (dividend, divisor) => {
        const quotient = divideUp(dividend, divisor)
        return quotient * divisor >= dividend && (quotient - 1n) * divisor < dividend
      },
    ),
  )
  t.pass()
})
