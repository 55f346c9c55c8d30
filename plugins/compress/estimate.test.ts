import test from 'ava'
import { estimateTokens } from './estimate.ts'

test('estimate: a text read in chunks counts every character once, surrogate pairs at the borders too', (t) => {
  const [letter, lead, emoji] = [0.85, 0.8, 200_000]
  // Sums of fractions are inexact; a split pair would add 0.8, and there are six borders.
  const difference = estimateTokens(`a${'😀'.repeat(emoji)}`) - (letter + lead * emoji)
  t.true(Math.abs(difference) <= 1, `${difference}`)
})
