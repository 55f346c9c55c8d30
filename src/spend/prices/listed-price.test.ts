import test from 'ava'
import { createPriceBook } from './book.ts'
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
