import test from 'ava'
import fc from 'fast-check'
import { createPriceBook } from './book.ts'
import { divideUp, scaleUp } from './decimal.ts'
import { createListedPrices } from './listed-price.ts'

const ceiling = { input: 100, output: 500, web_search: 50 }
const own = {
  model: 'own',
  input: 0.0375,
  output: 12,
  cache_read: 0,
  call: 5,
  long_context: [{ above: 200_000, input: 9, output: 90 }],
}
const book = createPriceBook({ overrides: { models: [own] }, ceiling })
const priceOf = createListedPrices(book, () => Date.UTC(2026, 10, 23))

test('listed price: decimal texts per token and per call, without the rates of a long context', (t) => {
  t.deepEqual(priceOf({ provider: 'house', model: 'own' }), {
    prompt: '0.0000000375',
    completion: '0.000012',
    input_cache_read: '0',
    input_cache_write: '0.000000046875',
    request: '0.005',
  })
})

test('listed price: a model with no known price has none', (t) => {
  t.is(priceOf({ provider: 'house', model: 'nobody-knows-it' }), undefined)
})

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
