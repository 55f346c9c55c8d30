import test from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import type { JsonObject } from '../support/json.ts'
import { valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { openProviderFixture, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertResponseStream } from '../support/response-rules.ts'
import { toResponse, toSse } from '../support/responses/answer.ts'

const removals: (() => void)[] = []
const plugins = createPluginDirectory(
  { teardown: (remove) => removals.push(remove) },
  {
    'brief/index.ts': pluginSource('brief', {
      onError: 'refuse',
      run: `exchange.edit({ op: 'add', path: ['messages', 0, 'content'], value: 'briefly' }); await next()`,
    }),
    'loud/index.ts': pluginSource('loud', {
      onError: 'refuse',
      run: `await next(); exchange.mapText((text) => text.toUpperCase())`,
    }),
  },
)
const fixture = await openProviderFixture({
  config: { providers: { tries: 1 } },
  env: { SVC_PLUGINS_DIR: plugins.path },
})
test.after.always(async () => {
  await fixture.close()
  for (const remove of removals) remove()
})

const MODEL = 'responder/gpt-5.2'

function send(scenario: ProviderScenario, body: JsonObject | string, pipe = 'none') {
  const whole = typeof body === 'string' ? body : { model: MODEL, ...body }
  return scenario.send({ path: '/v1/responses', body: whole, headers: { 'x-svc-pipe': pipe } })
}

test('native responses: of a body only the prefix of its model is taken out', async (t) => {
  const scenario = fixture.scenario()
  const odd = (model: string) =>
    `\n{ "model" : "${model}",\r\n\t"input":[ {"role":"user","content":"h\\u00e9llo \\/ \\"model\\": 1"} ], "temperature":1.0e0, "store" : false } `
  t.is((await send(scenario, odd(MODEL))).status, 200)
  t.is(scenario.seen('responder')[0]?.raw.toString(), odd('gpt-5.2'))
})

for (const stream of [false, true]) {
  test(`native responses: the reply is the provider's, byte for byte (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const whole = toResponse(
      { body: { model: 'gpt-5.2', input: 'hi' }, nth: 7 },
      { kind: 'answer', text: 'Hello there.' },
    )
    const bytes = stream ? toSse(whole, false) : Buffer.from(` ${JSON.stringify(whole)}\n`)
    const script = stream ? ({ kind: 'sse', bytes } as const) : ({ kind: 'reply', body: bytes } as const)
    const reply = await send(fixture.scenario({ responder: script }), { input: 'hi', stream })
    t.deepEqual(reply.body, bytes)
    t.is(reply.headers['x-svc-dropped'], undefined)
  })
}

test('native responses: nothing is stored unless the client asks for it', async (t) => {
  const scenario = fixture.scenario()
  await send(scenario, { input: 'a', store: true })
  t.like(scenario.seen('responder')[0]?.json, { store: true })
  await send(scenario, { input: 'b' })
  t.is(scenario.seen('responder')[1]?.json?.store, undefined)
  const messages = [{ role: 'user', content: 'c' }]
  await scenario.send({ body: { model: MODEL, max_tokens: 5, messages } })
  t.like(scenario.seen('responder')[2]?.json, { store: false, max_output_tokens: 16 })
})

test('native responses: reasoning of another provider is removed, its own restored, the rest stays', async (t) => {
  const scenario = fixture.scenario()
  const reasoning = (id: string, encrypted_content: string) => ({
    type: 'reasoning',
    id,
    summary: [],
    encrypted_content,
  })
  const own = reasoning('rs_9', 'sealed-rs_9')
  const input = [
    { role: 'user', content: 'hi' },
    ...[reasoning('rs_1', 'messages-thinking:c2ln'), reasoning('rs_2', 'messages-redacted:x'), own],
    reasoning('rs_3', 'messages-thinking:openai-reasoning:rs_9:sealed-rs_9'),
    { role: 'user', content: 'on' },
  ]
  const reply = await send(scenario, { input })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(valueAt(scenario.seen('responder')[0]?.json, 'input'), [input[0], own, own, input[5]])
  t.is(reply.headers['x-svc-dropped'], 'input.encrypted_content')
})

test('native responses: an edit of a plugin is spliced in, calls keep the client’s names', async (t) => {
  const scenario = fixture.scenario()
  const custom = { type: 'custom', name: 'patch' }
  const space = { type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read', parameters: {} }] }
  const calls = [
    { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** Begin' },
    { type: 'function_call', call_id: 'b', name: 'read', namespace: 'files', arguments: '{"n":1.0}' },
  ]
  const outputs = [
    { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
    { type: 'function_call_output', call_id: 'b', output: 'text' },
  ]
  const body = { input: [{ role: 'user', content: 'hi' }, ...calls, ...outputs], tools: [custom, space], user: 'u' }
  const reply = await send(scenario, body, 'brief')
  t.is(reply.status, 200, reply.text)
  const sent = scenario.seen('responder')[0]?.json
  const first = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'briefly' }] }
  t.deepEqual(sent, { ...body, model: 'gpt-5.2', input: [first, ...calls, ...outputs] })
})

for (const stream of [false, true]) {
  test(`native responses: a plugin that rewrites texts rewrites all of them (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const scenario = fixture.scenario({ responder: { kind: 'answer', text: 'Hello there.', reasoning: 'Hm.' } })
    const reply = await send(scenario, { input: 'hi', stream, include: ['reasoning.encrypted_content'] }, 'loud')
    t.regex(reply.text, /HELLO THERE\./)
    t.notRegex(reply.text, /Hello/)
    if (!stream) return
    const { output } = assertResponseStream(reply.body)
    // What it has encrypted comes back to the provider.
    const again = await send(scenario, { input: [{ role: 'user', content: 'hi' }, ...(output as JsonObject[])] })
    t.is(again.status, 200, again.text)
    t.regex(String(valueAt(scenario.seen('responder')[1]?.json, 'input.1.encrypted_content')), /^sealed-rs_\d+$/)
  })
}

test('native responses: a stream that is cut at a cap, and one that breaks, end in order', async (t) => {
  const text = Array.from({ length: 3000 }, (_, index) => `word${index}`).join(' ')
  const long = { kind: 'answer', text, writes: { sizes: [4000] } } as const
  const capped = await send(
    fixture.scenario({ responder: long }),
    { model: 'responder/gpt-4o', input: 'hi', stream: true },
    'cost-guard?per_request=0.01',
  )
  t.like(assertResponseStream(capped.body), { incomplete_details: { reason: 'max_output_tokens' } })
  const cut = { ...long, cutAfterBytes: 9000 }
  const broken = await send(fixture.scenario({ responder: cut }), { input: 'hi', stream: true })
  const failed = assertResponseStream(broken.body, { isRelayed: true })
  t.like(failed, { status: 'failed', error: { code: 'server_error' } })
})

for (const stream of [false, true]) {
  test(`native responses: a repeated request is a hit with the same bytes (${stream ? 'SSE' : 'JSON'})`, async (t) => {
    const scenario = fixture.scenario()
    const body = { input: t.title, stream }
    const replies = [await send(scenario, body, 'exact-cache'), await send(scenario, body, 'exact-cache')]
    t.deepEqual(replies.map(stateOf), ['miss', 'hit'])
    t.deepEqual(replies[1]?.body, replies[0]?.body)
  })
}

for (const fields of [{ conversation: 'conv_1' }, { background: true }]) {
  const [name] = Object.keys(fields)
  test(`responses provider: no cache answers a request with ${name}, whose next answer is another`, async (t) => {
    const scenario = fixture.scenario()
    const idle = []
    for (const pipe of ['exact-cache', 'exact-cache', 'semantic-cache', 'semantic-cache']) {
      const reply = await send(scenario, { input: t.title, ...fields }, pipe)
      t.is(reply.status, 200, reply.text)
      idle.push(reply.headers['x-svc-idle'])
    }
    const [exact, semantic] = ['exact-cache="stored state"', 'semantic-cache="stored state"']
    t.deepEqual(idle, [exact, exact, semantic, semantic])
    t.is(scenario.seen('responder').length, 4)
  })
}
