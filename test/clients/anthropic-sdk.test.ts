import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import { OPERATOR_KEY, openFixture, type Scenario } from '../support/fixture.ts'
import type { Script } from '../support/provider/script.ts'

const fixture = await openFixture({
  env: { SVC_PIPELINE: 'exact-cache' },
  provider: { strictVersion: true, apiKey: OPERATOR_KEY },
})
test.after.always(async () => fixture.close())
test.after('sdk: nothing is left of all calls', async (t) => {
  await fixture.provider.until(() => fixture.provider.pending() === 0)
  await fixture.assertSound(t, fixture.scenario())
})

const styles = {
  'a bearer': { apiKey: 'any-string', defaultHeaders: {} },
  'an auth token': { apiKey: null, authToken: 'any-string', defaultHeaders: {} },
  'x-api-key': { apiKey: null, defaultHeaders: { 'x-api-key': 'any-string', authorization: null } },
}

/** Creates the SDK as its users do: only the base address differs. */
function clientFor(
  scenario: Scenario,
  { defaultHeaders, ...style }: (typeof styles)[keyof typeof styles] = styles['a bearer'],
) {
  return new Anthropic({
    ...style,
    baseURL: fixture.gateway.url,
    maxRetries: 0,
    defaultHeaders: { ...scenario.headers, ...defaultHeaders },
  })
}

const asked = (content: string) => ({
  model: 'claude-opus-4-8',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
})

for (const [claim, style] of Object.entries(styles)) {
  test(`sdk: creates and streams a message with ${claim}`, async (t) => {
    const scenario = fixture.scenario()
    const client = clientFor(scenario, style)
    const whole = await client.messages.create(asked(`hello with ${claim}`))
    t.like(whole, { type: 'message', role: 'assistant', stop_reason: 'end_turn' })
    const streamed = await client.messages.stream(asked(`stream with ${claim}`)).finalMessage()
    t.like(streamed.content[0], { type: 'text', text: `You said: stream with ${claim}` })
    t.true(scenario.seen().every(({ headers }) => headers['x-api-key'] === OPERATOR_KEY))
    t.true(scenario.seen().every(({ refused }) => refused === undefined))
  })
}

test('sdk: a repeated call is answered by the cache, and the SDK sees no difference', async (t) => {
  const scenario = fixture.scenario()
  const client = clientFor(scenario)
  const first = await client.messages.create(asked('again'))
  t.deepEqual(await client.messages.create(asked('again')), first)
  const replayed = await client.messages.stream(asked('again')).finalMessage()
  t.like(replayed, { id: first.id, content: first.content, stop_reason: first.stop_reason })
  t.is(scenario.seen().length, 1)
})

test('sdk: iterates over the events of a stream in order', async (t) => {
  const names: string[] = []
  for await (const event of await clientFor(fixture.scenario()).messages.create({ ...asked('count'), stream: true })) {
    names.push(event.type)
  }
  t.is(names[0], 'message_start')
  t.is(names.at(-1), 'message_stop')
  t.true(names.includes('content_block_delta'))
})

test('sdk: a tool is called and its result is given back', async (t) => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Köln', days: [1, 2] } }
  const thought = { type: 'thinking', thinking: 'I must look.', signature: 'c2ln' }
  const scenario = fixture.scenario((_request, nth) =>
    nth === 1 ? { kind: 'answer', content: [thought, { type: 'text', text: 'Let me look.' }, use] } : undefined,
  )
  const client = clientFor(scenario)
  const tools = [
    { name: 'weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } },
  ]
  const question = { ...asked('What is the weather?'), tools }
  const first = await client.messages.stream(question).finalMessage()
  t.is(first.stop_reason, 'tool_use')
  t.like(first.content[2], use)
  const result = { type: 'tool_result' as const, tool_use_id: use.id, content: 'rain' }
  const messages = [
    ...question.messages,
    { role: 'assistant' as const, content: first.content },
    { role: 'user' as const, content: [result, { type: 'text' as const, text: 'So?' }] },
  ]
  const second = await client.messages.stream({ ...question, messages }).finalMessage()
  t.like(second.content[0], { type: 'text', text: 'You said: So?' })
  t.like(scenario.seen()[1]?.json, { messages })
})

test('sdk: an aborted stream ends the call of the provider', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', writes: { sizes: 'events', between: (done) => hold(done >= 4) } })
  const stream = clientFor(scenario).messages.stream(asked('abort me'))
  stream.on('text', () => stream.abort())
  await t.throwsAsync(stream.finalMessage(), { instanceOf: Anthropic.APIUserAbortError })
  t.is(await scenario.seen()[0]?.closed, 'client-left')
})

const never = new Promise(() => {})
const hold = (isOn: boolean) => (isOn ? { until: never } : undefined)

const refusals: [status: number, script: Script, error: new (...given: never[]) => Error][] = [
  [400, { kind: 'error', status: 400 }, Anthropic.BadRequestError],
  [401, { kind: 'error', status: 401 }, Anthropic.AuthenticationError],
  [403, { kind: 'error', status: 403 }, Anthropic.PermissionDeniedError],
  [404, { kind: 'error', status: 404 }, Anthropic.NotFoundError],
  [429, { kind: 'error', status: 429, headers: { 'retry-after': '60' } }, Anthropic.RateLimitError],
]

for (const [status, script, type] of refusals) {
  test(`sdk: a ${status} of the provider is the error that the SDK has for it`, async (t) => {
    const scenario = fixture.scenario(script)
    const create = clientFor(scenario).messages.create(asked(`refuse ${status}`))
    const error = await t.throwsAsync(create, { instanceOf: Anthropic.APIError })
    t.true(error instanceof type)
    t.is(error?.status, status)
    t.regex(String(error?.requestID), /StandIn/)
  })
}

test('sdk: a provider that stays overloaded is a 502 with the type and the id of the gateway', async (t) => {
  const scenario = fixture.scenario({ kind: 'error', status: 529 })
  const error = await t.throwsAsync(clientFor(scenario).messages.create(asked('overload')), {
    instanceOf: Anthropic.InternalServerError,
  })
  t.is(error?.status, 502)
  t.like(error?.error, { type: 'error', error: { type: 'upstream_error' } })
  t.regex(String(error?.requestID), /^req_[0-9a-f]{32}$/)
  t.is(scenario.seen().length, 3)
})

test('sdk: a request that the gateway refuses is a BadRequestError which names the field', async (t) => {
  const error = await t.throwsAsync(clientFor(fixture.scenario()).messages.create({ ...asked('x'), max_tokens: 0 }), {
    instanceOf: Anthropic.BadRequestError,
  })
  t.regex(String(error?.message), /max_tokens/)
})

test('sdk: a call without a credential is an AuthenticationError, which is not tried again', async (t) => {
  const scenario = fixture.scenario()
  const client = new Anthropic({
    apiKey: 'left out',
    baseURL: fixture.gateway.url,
    maxRetries: 2,
    defaultHeaders: { ...scenario.headers, authorization: null },
  })
  const error = await t.throwsAsync(client.messages.create(asked('nobody')))
  t.true(error instanceof Anthropic.AuthenticationError, String(error))
})

test('sdk: a stream that breaks is an error for the SDK, not a short answer', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', cutAfterBytes: 900 })
  await t.throwsAsync(clientFor(scenario).messages.stream(asked('break off')).finalMessage(), { message: /broke off/ })
})

test('sdk: counts tokens and lists models, page by page', async (t) => {
  const scenario = fixture.scenario()
  const client = clientFor(scenario)
  const { max_tokens: _, ...question } = asked('count me')
  t.true((await client.messages.countTokens(question)).input_tokens > 0)
  const ids = []
  for await (const { id } of client.models.list({ limit: 2 })) ids.push(id)
  t.is(ids.length, 3)
})

test('sdk: beta calls keep their header and their fields together', async (t) => {
  const scenario = fixture.scenario()
  const context_management = { edits: [{ type: 'clear_tool_uses_20250919' as const }] }
  await clientFor(scenario).beta.messages.create({
    ...asked('beta'),
    betas: ['context-management-2025-06-27'],
    context_management,
  })
  const [seen] = scenario.seen()
  t.is(seen?.headers['anthropic-beta'], 'context-management-2025-06-27')
  t.like(seen?.json, { context_management })
})
