import test from 'ava'
import { estimateTokens } from './estimate.ts'

test('estimate: a text that is read in pieces counts every character once, pairs at the cuts too', (t) => {
  const [letter, lead, emoji] = [0.85, 0.8, 200_000]
  // Sums of fractions are not exact; a pair that is cut would add 0.8, and there are six cuts.
  const difference = estimateTokens(`a${'😀'.repeat(emoji)}`) - (letter + lead * emoji)
  t.true(Math.abs(difference) <= 1, `${difference}`)
})
