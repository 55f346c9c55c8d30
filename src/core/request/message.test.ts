import test from 'ava'
import fc from 'fast-check'
import { isDrill } from '../../../test/support/drill.ts'
import { brokenRequests, requests } from '../../../test/support/request-bodies.ts'
import { explain, hasUsualScalars, type MessageRequest, messageRequestSchema, scalarFieldsSchema } from './message.ts'

const good = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] }

function explained(changes: object): string {
  const { success, error } = messageRequestSchema.safeParse({ ...good, ...changes })
  return success ? 'accepted' : explain(error)
}

function inContent(...content: unknown[]): object {
  return { messages: [{ role: 'user', content }] }
}

test('messageRequestSchema: accepts the fields of the specification, and passes others', (t) => {
  const request = {
    ...good,
    ...inContent(
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral' }, citations: [] },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'tool_use', id: 'a', name: 'b', input: { '10': 1 }, cache_control: null },
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'y' }], is_error: false },
      { type: 'thinking', signature: 's', text: 5 },
    ),
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
    tools: [
      { name: 'a', input_schema: {}, defer_loading: true },
      { type: 'mcp_toolset', mcp_server_name: 'x' },
    ],
    temperature: 2,
    top_p: 0,
    top_k: 1,
    stop_sequences: ['x'],
    stream: false,
    metadata: { user_id: 'u', anything: [1] },
    thinking: { type: 'enabled' },
  }
  t.deepEqual(messageRequestSchema.parse(request), request as unknown as MessageRequest)
})

test('messageRequestSchema: a system turn and nulls in optional fields pass', (t) => {
  t.is(explained({ messages: [{ role: 'system', content: [] }] }), 'accepted')
  const nulls = { system: null, tools: null, temperature: null, top_p: null, top_k: null, stop_sequences: null }
  t.is(explained({ ...nulls, stream: null, metadata: null }), 'accepted')
})

test('messageRequestSchema: limits of the specification hold', (t) => {
  for (const max_tokens of [0, -1, 1.5, '5', null]) t.regex(explained({ max_tokens }), /^max_tokens: /)
  for (const temperature of [-0.1, 2.1, '1']) t.regex(explained({ temperature }), /^temperature: /)
  for (const top_p of [-0.1, 1.1]) t.regex(explained({ top_p }), /^top_p: /)
  for (const top_k of [0, 1.5]) t.regex(explained({ top_k }), /^top_k: /)
  t.regex(explained({ model: undefined }), /^model: expected string, got nothing$/)
})

test('scalarFieldsSchema: checks the scalar fields as the whole schema does', (t) => {
  const counts = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(fc.oneof(requests, brokenRequests), (request) => {
      const { messages, system, tools, ...scalars } = request
      const accepted = scalarFieldsSchema.safeParse(scalars).success
      counts[accepted ? 'accepted' : 'refused']++
      t.is(accepted, messageRequestSchema.safeParse({ ...scalars, messages: [] }).success)
    }),
    { numRuns: 1000 },
  )
  t.true(counts.accepted > 100 && counts.refused > 10, JSON.stringify(counts))
})

test('explain: names the path, the expected and the received kind', (t) => {
  const cases: [object, string][] = [
    [
      inContent({ type: 'text', text: 'a' }, { type: 'text', text: 5 }),
      'messages[0].content[1].text: expected string, got number',
    ],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content: expected string or array, got number'],
    [{ messages: [{ role: 'bot', content: '' }] }, 'messages[0].role: expected one of "user"|"assistant"|"system"'],
    [inContent({}), 'messages[0].content[0].type: expected string, got nothing'],
    [inContent('x'), 'messages[0].content[0]: expected object, got string'],
    [inContent({ type: 5 }), 'messages[0].content[0].type: expected string, got number'],
    [
      inContent({ type: 'tool_result', tool_use_id: 'x', content: [{ type: 'image' }] }),
      'messages[0].content[0].content[0].source: expected object, got nothing',
    ],
    [
      inContent({ type: 'tool_use', id: 'a', name: 'b', input: [] }),
      'messages[0].content[0].input: expected object, got array',
    ],
    [{ system: 5 }, 'system: expected string or array, got number'],
    [{ max_tokens: 1.5 }, 'max_tokens: expected a whole number'],
    [{ metadata: [] }, 'metadata: expected object, got array'],
  ]
  for (const [changes, message] of cases) t.is(explained(changes), message)
})

test('explain: names three faults and mentions the rest', (t) => {
  const changes = { max_tokens: 0, temperature: 3, top_p: 2, top_k: 0, stream: 1 }
  t.regex(explained(changes), /^max_tokens: .*; temperature: .*; top_p: [^;]*; and more$/)
})

test('explain: shows no values', (t) => {
  const secret = 'sk-secret'
  const places = [
    inContent(secret),
    { max_tokens: secret },
    { stream: secret },
    { messages: [{ role: secret, content: '' }] },
  ]
  for (const place of places) t.false(explained(place).includes(secret))
})

test('fields that pass without the schema fit it', (t) => {
  const numbers = fc.oneof(fc.constantFrom(0, -0, 1, 2, 2.1, -1, 1.5, 2 ** 53), fc.jsonValue())
  const flags = fc.oneof(fc.boolean(), fc.jsonValue())
  const names = fc.oneof(fc.constantFrom('claude', ' ', ''), fc.jsonValue())
  const metadata = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue())
  const fields = { model: names, max_tokens: numbers, stream: flags, temperature: numbers, metadata }
  const unusual = { top_p: numbers, top_k: numbers, stop_sequences: fc.jsonValue() }
  const bodies = fc.oneof(
    fc.record(fields, { requiredKeys: ['model', 'max_tokens'] }),
    fc.record({ ...fields, ...unusual }, { requiredKeys: [] }),
    fc.jsonValue(),
  )
  t.true(hasUsualScalars({ ...good, metadata: { user_id: 'user_1' } }), 'coding agents send it with every request')
  t.false(hasUsualScalars({ ...good, metadata: ['user_1'] }))
  let passed = 0
  fc.assert(
    fc.property(bodies, (body) => {
      const isUsual = hasUsualScalars(body)
      if (isUsual) passed++
      return !isUsual || scalarFieldsSchema.safeParse(body).success
    }),
    // Few bodies pass: with a seed of its own, `npm test` has all runs, too.
    { numRuns: 5000, ...(!isDrill && { seed: 1 }) },
  )
  t.true(passed > 5)
})
