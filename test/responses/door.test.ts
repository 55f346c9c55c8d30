import test, { type ExecutionContext } from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import { logLineOf } from '../support/door.ts'
import type { Reply } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, PROVIDERS, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertResponseStream, assertWhole } from '../support/response-rules.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'exact-cache' } })
test.after.always(() => fixture.close())

const PATH = '/v1/responses'

function send(scenario: ProviderScenario, body: JsonObject): Promise<Reply> {
  return scenario.send({ path: PATH, body: { model: MODELS.anthropic, ...body } })
}

/** Asserts that a refusal is in OpenAI's form and has called no provider. */
function assertRefusal(t: ExecutionContext, reply: Reply, scenario: ProviderScenario, param: string | null) {
  t.is(reply.status, 400)
  t.like(reply.json, { error: { code: 'invalid_request', param } })
  t.is(scenario.seen('anthropic').length, 0)
}

for (const model of PROVIDERS.map((name) => MODELS[name])) {
  test(`responses: ${model} answers in whole responses, as JSON and as events`, async (t) => {
    const scenario = fixture.scenario()
    const whole = await send(scenario, { model, input: t.title })
    t.is(whole.status, 200)
    t.notThrows(() => assertWhole(whole.json))
    t.is(valueAt(whole.json, 'output.0.type'), 'message')
    t.truthy(whole.headers['x-request-id'])
    const streamed = await send(scenario, { model, input: t.title, stream: true })
    t.regex(String(streamed.headers['content-type']), /^text\/event-stream/)
    t.like(assertResponseStream(streamed.body), { status: 'completed', store: false })
    t.is((await logLineOf(fixture.gateway, streamed)).model, model)
  })
}

for (const [what, fields, param] of [
  ['an input of another kind', { input: 5 }, 'input'],
  ['a tool without an equivalent', { input: 'x', tools: [{ type: 'file_search' }] }, 'tools[0]'],
  ['a reference to a stored item', { input: [{ type: 'item_reference', id: 'x' }] }, null],
  ['a role of no one', { input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
  ['two readings', '{"model":"claude-sonnet-4-5","input":"x","Input":"y"}', null],
] as const) {
  test(`responses: ${what} is refused by the name of the parameter`, async (t) => {
    const scenario = fixture.scenario()
    const body = typeof fields === 'string' ? fields : { model: MODELS.anthropic, ...fields }
    const reply = await scenario.send({ path: PATH, body })
    assertRefusal(t, reply, scenario, param === null ? (valueAt(reply.json, 'error.param') as null) : param)
  })
}

for (const model of [...PROVIDERS, 'responder' as const].map((name) => MODELS[name])) {
  test(`responses: a conversation that begins with the assistant reaches ${model}`, async (t) => {
    const input = [
      { role: 'assistant', content: 'Welcome!', phase: 'commentary' },
      { role: 'user', content: t.title },
    ]
    const reply = await send(fixture.scenario(), { model, input })
    t.is(reply.status, 200, reply.text)
  })
}

test('responses: dropped fields are listed on the reply', async (t) => {
  const reply = await send(fixture.scenario(), {
    input: t.title,
    client_metadata: { a: 'b' },
    text: { verbosity: 'low' },
  })
  t.is(reply.headers['x-svc-dropped'], 'text.verbosity, client_metadata')
})

for (const stream of [false, true]) {
  test(`responses: a repeated request is a hit with the same bytes (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const scenario = fixture.scenario()
    const body = { input: [{ role: 'user', content: t.title }], stream }
    const replies = [await send(scenario, body), await send(scenario, body)]
    t.deepEqual(replies.map(stateOf), ['miss', 'hit'])
    const [first, second] = replies.map(({ text }) => text.replaceAll(/"(?:created|completed)_at":\d+|: ping\n\n/g, ''))
    t.is(second, first)
    t.is(scenario.seen('anthropic').length, 1)
  })
}

const called = [
  { role: 'user', content: 'go' },
  { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
]
const output = { type: 'function_call_output', call_id: 'c', output: 'one' }
const customCall = (input: string) => [
  { type: 'custom_tool_call', call_id: 'd', name: 'p', input },
  { ...output, type: 'custom_tool_call_output', call_id: 'd' },
]
const summary = [{ type: 'summary_text', text: 'Hm.' }]
for (const [what, one, other] of [
  ['a result', output, { ...output, output: 'two' }],
  ['a custom call', customCall('x'), customCall('y')],
  [
    'thinking',
    { type: 'reasoning', summary, encrypted_content: 'messages-thinking:YQ==' },
    { type: 'reasoning', summary, encrypted_content: 'messages-thinking:Yg==' },
  ],
  ['an item without an equivalent', { type: 'web_search_call', id: 'a' }, { type: 'web_search_call', id: 'b' }],
  [
    'its tools',
    { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] },
    { type: 'additional_tools', tools: [{ type: 'function', name: 'g' }] },
  ],
] as const) {
  test(`responses: requests that differ in ${what} have answers of their own`, async (t) => {
    const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'ok' } })
    const bodies = [one, other].map((item) => ({
      input: [...called, output, ...[item].flat(), { role: 'user', content: t.title }],
    }))
    const states: unknown[] = []
    for (const body of [...bodies, ...bodies]) states.push(stateOf(await send(scenario, body)))
    t.deepEqual(states, ['miss', 'miss', 'hit', 'hit'])
  })
}

for (const [model, effort, sent, dropped] of [
  ['openai/gpt-5', 'minimal', 'minimal', undefined],
  ['openai/gpt-5.2', 'xhigh', 'xhigh', undefined],
  ['openai/gpt-5', 'medium', 'medium', undefined],
  ['openai/gpt-5', 'xhigh', 'high', 'reasoning.effort'],
  ['openai/gpt-5.2', 'minimal', 'low', 'reasoning.effort'],
  [MODELS.house, 'max', 'high', 'reasoning.effort'],
] as const) {
  test(`responses: an effort of ${effort} is ${sent} for ${model}, and a change is reported`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await send(scenario, { model, input: t.title, reasoning: { effort } })
    t.is(reply.status, 200, reply.text)
    const [seen] = scenario.seen(model === MODELS.house ? 'house' : 'openai')
    t.is(valueAt(seen?.json, 'reasoning_effort'), sent)
    t.is(reply.headers['x-svc-dropped'], dropped)
  })
}

test('responses: a chat client’s effort reaches a provider of Responses by its name, or is reported', async (t) => {
  const scenario = fixture.scenario()
  const body = { model: MODELS.responder, messages: [{ role: 'user', content: t.title }], reasoning_effort: 'xhigh' }
  const reply = await scenario.send({ path: '/v1/chat/completions', body })
  t.is(valueAt(scenario.seen('responder')[0]?.json, 'reasoning.effort'), 'high')
  t.is(reply.headers['x-svc-dropped'], 'reasoning_effort')
})

test('responses: a Claude model of a provider without search of the web answers without it', async (t) => {
  const scenario = fixture.scenario()
  const search = { type: 'web_search', external_web_access: true }
  const f = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
  const body = { model: 'house/anthropic/claude-sonnet-4.5', input: t.title, tool_choice: 'auto' }
  for (const tools of [[search, f], [search]]) {
    const reply = await send(scenario, { ...body, tools })
    t.is(reply.status, 200, reply.text)
    t.is(reply.headers['x-svc-dropped'], 'tools.web_search')
  }
  const [both, alone] = scenario.seen('house').map(({ json }) => json)
  t.is(valueAt(both, 'tools.0.function.name'), 'f')
  t.is(valueAt(both, 'tools.1'), undefined)
  t.is(valueAt(alone, 'tools'), undefined)
  const forced = await send(scenario, { ...body, tools: [search], tool_choice: { type: 'web_search' } })
  t.is(forced.status, 400)
  t.regex(forced.text, /web_search/)
})

test('responses: a handshake without a key is refused with 426, any other method with 405', async (t) => {
  const scenario = fixture.scenario()
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const socket = await scenario.send({ method: 'GET', path: PATH, headers })
  t.is(socket.status, 426)
  t.like(socket.json, { error: { code: 'method_not_allowed' } })
  for (const method of ['GET', 'DELETE'] as const) {
    const reply = await scenario.send({ method, path: PATH })
    t.like(reply, { status: 405, headers: { allow: 'POST' } })
  }
})

test('responses: a call without a credential is refused in OpenAI’s form', async (t) => {
  const reply = await fixture
    .scenario()
    .send({ path: PATH, headers: { authorization: '' }, body: { model: 'm', input: 'x' } })
  t.is(reply.status, 401)
  t.like(reply.json, { error: { type: 'authentication_error', code: 'authentication_error', param: null } })
})
