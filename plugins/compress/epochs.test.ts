import test from 'ava'
import fc from 'fast-check'
import { epochsOf } from './epochs.ts'

const settings = { startTokens: 100, stepTokens: 50, keepTokens: 20, keepResults: 1 }
const sizes = (...tokens: number[]) => tokens.map((tokensAfter) => ({ tokensAfter, results: 1 }))

test('epochs: the first begins when the conversation is full, and preserves its end', (t) => {
  t.deepEqual(epochsOf(sizes(50, 30, 19), settings), [])
  t.deepEqual(epochsOf(sizes(50, 30, 20), settings), [{ begins: 3, cut: 2 }])
})

test('epochs: one message that is larger than many steps begins one epoch', (t) => {
  t.deepEqual(epochsOf(sizes(50, 900, 10, 10, 10, 10), settings), [{ begins: 2, cut: 1 }])
})

test('epochs: a cold cache begins a separate epoch', (t) => {
  t.deepEqual(epochsOf(sizes(30, 30, 30), settings, [3]), [{ begins: 3, cut: 2 }])
})

test('epochs: the epochs of a prefix are the first epochs of the whole', (t) => {
  let seen = 0
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 }), fc.nat(40), (tokens, length) => {
      const whole = epochsOf(sizes(...tokens), settings)
      const part = epochsOf(sizes(...tokens.slice(0, length)), settings)
      seen += part.length
      t.deepEqual(whole.slice(0, part.length), part)
    }),
  )
  t.true(seen > 50)
})
