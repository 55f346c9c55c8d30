import path from 'node:path'
import test from 'ava'
import { readData } from './data.ts'
import { embedderOf } from './embedders.ts'
import { measurePairs } from './measure.ts'

/** Bar of the pairs that may share an answer, in each file of them. */
const LEAST_SERVED = 0.45

test('semantic-cache: of the adversarial pairs none is served wrongly in strict mode, and of the others nearly half', async (t) => {
  const embedder = await embedderOf('lexical')
  const { pairs } = readData(path.join(import.meta.dirname, 'pairs'), 'all')
  t.is(pairs.size, 6)
  for (const [file, list] of pairs) {
    const all = (await measurePairs(list, { mode: { kind: 'strict' }, embedder })).get('all')
    t.is(all?.otherAccepted, 0, file)
    t.true((all?.sameAccepted ?? 0) >= LEAST_SERVED * (all?.same ?? Infinity), file)
  }
})
