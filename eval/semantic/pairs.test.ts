import path from 'node:path'
import test from 'ava'
import { readData } from './data.ts'
import { embedderOf } from './embedders.ts'
import { measurePairs } from './measure.ts'

/** Bar for the share of positive pairs served, in each file. */
const LEAST_SERVED = 0.45

test('semantic-cache: strict mode serves no adversarial pair wrongly, and nearly half of the others', async (t) => {
  const embedder = await embedderOf('lexical')
  const { pairs } = readData(path.join(import.meta.dirname, 'pairs'), 'all')
  t.is(pairs.size, 10)
  for (const [file, list] of pairs) {
    const all = (await measurePairs(list, { mode: { kind: 'strict' }, embedder })).get('all')
    t.is(all?.otherAccepted, 0, file)
    t.true((all?.sameAccepted ?? 0) >= LEAST_SERVED * (all?.same ?? Infinity), file)
  }
})
