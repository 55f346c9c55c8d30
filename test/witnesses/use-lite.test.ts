import test from 'ava'
import { ScopeCandidates } from '../../plugins/semantic-cache/candidates/scope-candidates.ts'
import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { lexicalEmbedder } from '../../plugins/semantic-cache/embedders/lexical.ts'
import { createUseLiteEmbedder } from './use-lite.ts'

const { signal } = new AbortController()
const NEAREST = { count: 1, leastCosine: 0, nowMs: 0 }
/** One need each; what is asked below shares few words with its own, and more with others. */
const ANSWERED = [
  'What is the fastest way to fix a puncture on a bicycle?',
  'Which doctor should I call when my child is running a fever?',
  'How do I lower my monthly electricity bill?',
  'What is a good meal to cook for ten guests?',
]
const ASKED = [
  ['How can I repair a flat bike tyre quickly?', 0],
  ['My kid has a high temperature, who can help?', 1],
  ['Ways to spend less money on power every month', 2],
  ['Ideas for a big dinner party recipe', 3],
] as const

async function indexOf(embedder: Embedder): Promise<ScopeCandidates> {
  const index = new ScopeCandidates(embedder.dimensions, ANSWERED.length)
  for (const text of ANSWERED) index.add({ key: text, text, expiresAtMs: 1 }, await embedder.embed(text, signal))
  return index
}

async function foundBy(embedder: Embedder): Promise<number> {
  const index = await indexOf(embedder)
  let count = 0
  for (const [text, place] of ASKED) {
    const [nearest] = index.nearest(await embedder.embed(text, signal), NEAREST)
    if (nearest?.candidate.text === ANSWERED[place]) count++
  }
  return count
}

test('use-lite: a sentence model proposes what shares a meaning but few words', async (t) => {
  t.is(await foundBy(await createUseLiteEmbedder()), ASKED.length)
  t.true((await foundBy(lexicalEmbedder)) < ASKED.length)
})
