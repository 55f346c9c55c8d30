import test from 'ava'
import { generatePairs } from '../../../scripts/verifier/pairs.ts'
import { cosineOf } from '../cosine.ts'
import { lexicalEmbedder } from '../embedders/lexical.ts'
import { refusalOf } from './guard.ts'
import { pairUp } from './pair.ts'
import { readPrompt } from './reading.ts'
import { likelihoodOf, STRICT_LIKELIHOOD } from './verifier.ts'
import written from './verifier-weights.json' with { type: 'json' }

function likelihood(one: string, other: string): number {
  return likelihoodOf(
    pairUp(readPrompt(one), readPrompt(other)),
    cosineOf(lexicalEmbedder.embed(one), lexicalEmbedder.embed(other)),
  )
}

test('verifier: the same question in another frame is likelier than one that a small word turns', (t) => {
  const same = likelihood('How do I top up my account?', 'How can I top up my account?')
  const turned = likelihood('How do I top up my account?', 'How can I top up by account?')
  t.true(same > 0.75, String(same))
  t.true(turned < same - 0.3, String(turned))
})

test('verifier: no difference makes one answer likelier', (t) => {
  for (const [name, weight] of Object.entries(written.weights)) t.true(weight <= 0, `${name} is ${weight}`)
})

test('verifier: keeps all generated pairs of one answer that it was not trained on, and drops some of the others', (t) => {
  const left = generatePairs('checking').filter(
    ({ a, b }) => refusalOf(pairUp(readPrompt(a), readPrompt(b)), 'strict') === undefined,
  )
  const accepted = (isSame: boolean) => {
    const some = left.filter((pair) => pair.isSame === isSame)
    return some.filter(({ a, b }) => likelihood(a, b) >= STRICT_LIKELIHOOD).length / some.length
  }
  t.is(accepted(true), 1)
  t.true(accepted(false) < 0.7, String(accepted(false)))
})
