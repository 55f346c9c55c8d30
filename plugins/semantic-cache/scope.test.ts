import test from 'ava'
import fc from 'fast-check'
import { type Caller, RequestDocument, type SharingScope } from 'turnpike/plugin'
import { ClientRequest } from '../../src/core/client-request.ts'
import { Exchange } from '../../src/core/exchange.ts'
import { questionOf } from './question.ts'
import { scopeOf } from './scope.ts'

/** What a request consists of, besides the last text. */
interface Parts {
  tenant: string
  provider: string
  model: string
  system: string | null
  tools: string[]
  turns: string[]
  temperature: number | null
  topP: number | null
  beta: string
  embedder: string
  sharing: SharingScope
}

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
  embedder: fc.constantFrom('one', 'two'),
  sharing: fc.constantFrom('key', 'user', 'shared'),
})

function scopeOfParts(given: Parts, text: string): string {
  const { tenant, provider, model, system, tools, turns, temperature, topP, beta, embedder, sharing } = given
  const caller: Caller = { kind: 'key', scope: tenant, userId: `user of ${tenant}` }
  const messages = [
    ...turns.flatMap((turn) => [
      { role: 'user', content: turn },
      { role: 'assistant', content: turn },
    ]),
    { role: 'user', content: text },
  ]
  const body = {
    model: 'asked',
    max_tokens: 9,
    messages,
    ...(system !== null && { system }),
    ...(tools.length > 0 && { tools: tools.map((name) => ({ name })) }),
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
  }
  const exchange = new Exchange({
    id: 'req_1',
    route: 'messages',
    caller,
    credential: { header: 'authorization', secret: 'x' },
    headers: beta === '' ? {} : { 'anthropic-beta': beta },
    query: '',
    client: new ClientRequest(new RequestDocument(Buffer.from(JSON.stringify(body)))),
    request: undefined,
    targets: [{ provider, model }],
    signal: new AbortController().signal,
    reply: undefined,
    pipeline: 'semantic-cache',
    trace: [],
    edits: [],
    calls: [],
    putAside: [],
  })
  const question = questionOf(exchange)
  if (question === undefined) throw new Error('no question')
  return scopeOf(exchange, question, { scope: sharing, embedder: { id: embedder } })
}

/** What may not matter: with `shared`, whose key it is; an empty tool list is left out above. */
function identityOf(given: Parts): string {
  return JSON.stringify({ ...given, tenant: given.sharing === 'shared' ? '' : given.tenant })
}

test('scope: two requests share one exactly when nothing but the last text differs', (t) => {
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
  t.true(counts.equal > 2000 && counts.different > 2000, JSON.stringify(counts))
})
