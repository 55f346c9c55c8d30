import test from 'ava'
import fc from 'fast-check'
import { identityOf, type Parts, scopeOfParts } from '../../eval/semantic/scope-parts.ts'

const few = fc.constantFrom('a', 'b', 'a b', '')
const parts: fc.Arbitrary<Parts> = fc.record({
  tenant: fc.constantFrom('key:a', 'key:b'),
  provider: fc.constantFrom('anthropic', 'bedrock'),
  model: fc.constantFrom('m', 'n'),
  system: fc.option(few),
  tools: fc.array(few, { maxLength: 2 }),
  turns: fc.array(few, { maxLength: 2 }),
  temperature: fc.option(fc.constantFrom(0, 0.5)),
  topP: fc.option(fc.constantFrom(0, 0.5)),
  beta: fc.constantFrom('', 'x', 'y'),
  sharing: fc.constantFrom('key', 'user', 'shared'),
})

test('scope: two requests share one exactly when only the last text differs', (t) => {
  const counts = { equal: 0, different: 0 }
  const nearby = parts.chain((one) =>
    fc.record({
      one: fc.constant(one),
      other: fc.oneof(
        fc.constant(one),
        fc.subarray(Object.keys(one), { maxLength: 2 }).chain((names) =>
          parts.map(
            (drawn): Parts => ({
              ...one,
              ...Object.fromEntries(Object.entries(drawn).filter(([name]) => names.includes(name))),
            }),
          ),
        ),
      ),
    }),
  )
  fc.assert(
    fc.property(nearby, ({ one, other }) => {
      const isEqual = identityOf(one) === identityOf(other)
      counts[isEqual ? 'equal' : 'different']++
      t.is(scopeOfParts(one, 'Where is it?') === scopeOfParts(other, 'Where was it?'), isEqual)
    }),
    { numRuns: 20_000 },
  )
  t.true(counts.equal > 20 && counts.different > 20, JSON.stringify(counts))
})
