import test from 'ava'
import { Balance } from './balance.ts'

const PRICES = { read: 0.1, write: { '5m': 1.25, '1h': 2 } }

/** A bill of so many tokens that were written for five minutes, and of so many that were read. */
const bill = (written: number, readTokens: number) => ({
  inputTokens: written + readTokens,
  readTokens,
  writtenTokens: { '5m': written, '1h': 0 },
})

test('balance: writes that are never read end at 10,000 tokens and a hundredth of the input', (t) => {
  const balance = new Balance()
  let writes = 0
  while (balance.mayWrite(0, PRICES) && writes < 100) {
    balance.settle(bill(4000, 0), PRICES)
    writes++
  }
  // Each costs 1,000 tokens more than plain input and adds 40 to the allowance: 1,000 n > 10,000 + 40 n.
  t.is(writes, 11)
})

test('balance: what was saved, or is to be saved by this request, allows further writes', (t) => {
  const balance = new Balance()
  for (let nth = 0; nth < 11; nth++) balance.settle(bill(4000, 0), PRICES)
  t.false(balance.mayWrite(0, PRICES))
  t.true(balance.mayWrite(1000, PRICES))
  balance.settle(bill(0, 1000), PRICES)
  t.true(balance.mayWrite(0, PRICES))
})

test('balance: writes without a bill count until they end, and savings beyond a million tokens do not', (t) => {
  const balance = new Balance()
  balance.begin(10_001)
  t.false(balance.mayWrite(0, PRICES))
  balance.end(10_001)
  t.true(balance.mayWrite(0, PRICES))
  for (let nth = 0; nth < 3; nth++) balance.settle({ ...bill(0, 1_000_000), inputTokens: 0 }, PRICES)
  balance.begin(1_010_000)
  t.true(balance.mayWrite(0, PRICES))
  balance.begin(1)
  t.false(balance.mayWrite(0, PRICES))
})

test('balance: an hour costs the difference to its own price', (t) => {
  const balance = new Balance()
  balance.settle({ inputTokens: 0, readTokens: 0, writtenTokens: { '5m': 0, '1h': 10_001 } }, PRICES)
  t.false(balance.mayWrite(0, PRICES))
})
