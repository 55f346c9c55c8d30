import test from 'ava'
import { chat, chatTools, chatWithTools, streamed, streamedWithUsage } from '../support/chat-bodies.ts'
import { assembleCompletion, assertChatStream } from '../support/chat-chunks.ts'
import { logLineOf, sendChat } from '../support/door.ts'
import { assembleMessage, assertMessageStream } from '../support/events.ts'
import { call } from '../support/gemini/script.ts'
import { ask } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { KEYS, MODELS, openProviderFixture, type ScenarioScripts } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const TOOL = { name: 'get_weather', description: 'Weather', input_schema: { type: 'object', properties: {} } }
const INPUT = { city: 'Wien', days: [1, { a: null }] }
/** A call of the tool, as each provider makes it. */
const calling: ScenarioScripts = {
  anthropic: { kind: 'answer', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: INPUT }] },
  openai: { kind: 'answer', toolCalls: [{ name: 'get_weather', arguments: JSON.stringify(INPUT) }] },
  gemini: { kind: 'answer', parts: [call('get_weather', INPUT)] },
  house: { kind: 'answer', toolCalls: [{ name: 'get_weather', arguments: JSON.stringify(INPUT) }] },
}

for (const name of ['openai', 'gemini', 'house'] as const) {
  const model = MODELS[name]

  for (const stream of [false, true]) {
    test(`translated: ${name} answers a messages client with a valid message (stream: ${stream})`, async (t) => {
      const scenario = fixture.scenario()
      const reply = await scenario.send({ body: ask('one two three', { model, stream }) })
      t.is(reply.status, 200, reply.text)
      const message = stream ? assembleMessage(assertMessageStream(reply.body)) : reply.json
      t.like(message, { type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null })
      t.is(valueAt(message, 'content.0.text'), 'You said: one two three')
      t.regex(String(valueAt(message, 'id')), /./)
      t.is(reply.headers['x-svc-model'], model)
      const tokens = { in: valueAt(message, 'usage.input_tokens'), out: valueAt(message, 'usage.output_tokens') }
      t.true(Number(tokens.in) > 0 && Number(tokens.out) > 0)
      t.like(await logLineOf(fixture.gateway, reply), { provider: name, tokens })
      t.is(scenario.seen(name)[0]?.refused, undefined)
    })

    test(`translated: ${name} calls a tool of a messages client (stream: ${stream})`, async (t) => {
      const scenario = fixture.scenario(calling)
      const reply = await scenario.send({ body: ask('weather?', { model, stream, tools: [TOOL] }) })
      t.is(reply.status, 200, reply.text)
      const message = stream ? assembleMessage(assertMessageStream(reply.body)) : reply.json
      t.is(valueAt(message, 'stop_reason'), 'tool_use')
      t.like(valueAt(message, 'content.0'), { type: 'tool_use', name: 'get_weather', input: INPUT })
    })
  }

  const types = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    429: 'rate_limit_error',
  }
  for (const [status, type] of Object.entries(types)) {
    test(`translated: a ${status} of ${name} reaches a messages client with its status, its message and its headers`, async (t) => {
      const headers = { 'retry-after': '60', 'x-ratelimit-remaining-tokens': '7' }
      const error = { kind: 'error', status: Number(status), message: 'The reason.', headers } as const
      const scenario = fixture.scenario({ openai: error, gemini: error, house: error })
      const reply = await scenario.send({ body: ask('hi', { model, stream: true }) })
      t.is(reply.status, Number(status))
      t.like(reply.json, { type: 'error', error: { type } })
      t.regex(String(valueAt(reply.json, 'error.message')), /The reason\./)
      t.like(reply.headers, { ...headers, 'content-type': 'application/json' })
    })
  }
}

for (const name of ['anthropic', 'gemini', 'house'] as const)
  for (const status of [401, 500])
    test(`translated: a ${status} of ${name} that repeats the operator’s key reaches the client without it`, async (t) => {
      const scenario = fixture.scenario({ [name]: { kind: 'error', status, message: `Wrong key: ${KEYS[name]}.` } })
      const reply = await scenario.send({ body: ask('hi', { model: MODELS[name] }) })
      t.true(reply.status === status || reply.status === 502)
      t.regex(reply.text, /Wrong key: \[hidden\]\./)
      t.false(reply.text.includes(KEYS[name]))
    })

for (const name of ['anthropic', 'gemini'] as const) {
  const model = MODELS[name]

  test(`translated: ${name} answers a chat client with a valid completion`, async (t) => {
    const reply = await sendChat(fixture.scenario(), chat('one two three', { model }))
    t.is(reply.status, 200, reply.text)
    t.like(reply.json, { object: 'chat.completion' })
    const choice = { index: 0, finish_reason: 'stop' }
    t.like(valueAt(reply.json, 'choices.0'), choice)
    t.is(valueAt(reply.json, 'choices.0.message.content'), 'You said: one two three')
    const { prompt_tokens, completion_tokens } = valueAt(reply.json, 'usage') as JsonObject // safe: a completion has it
    t.like(await logLineOf(fixture.gateway, reply), { tokens: { in: prompt_tokens, out: completion_tokens } })
  })

  test(`translated: ${name} answers a chat client with a valid stream, and with its usage only if asked`, async (t) => {
    const plain = await sendChat(fixture.scenario(), streamed(chat('one two three', { model })))
    t.true(assertChatStream(plain.body).every((chunk) => !('usage' in chunk)))
    const counted = await sendChat(fixture.scenario(), streamedWithUsage(chat('one two three', { model })))
    const completion = assembleCompletion(counted.body)
    t.is(valueAt(completion, 'choices.0.message.content'), 'You said: one two three')
    t.true(Number(valueAt(completion, 'usage.total_tokens')) > 0)
    const line = await logLineOf(fixture.gateway, plain)
    t.true(Number(valueAt(line, 'tokens.out')) > 0)
  })

  for (const stream of [false, true]) {
    test(`translated: ${name} calls a tool of a chat client (stream: ${stream})`, async (t) => {
      const reply = await sendChat(fixture.scenario(calling), chatWithTools({ model, stream }))
      t.is(reply.status, 200, reply.text)
      const completion = stream ? assembleCompletion(reply.body) : reply.json
      t.is(valueAt(completion, 'choices.0.finish_reason'), 'tool_calls')
      const called = valueAt(completion, 'choices.0.message.tool_calls.0')
      t.is(valueAt(called, 'function.name'), 'get_weather')
      t.deepEqual(JSON.parse(String(valueAt(called, 'function.arguments'))), INPUT)
    })
  }

  test(`translated: a 429 of ${name} reaches a chat client in its shape, with its headers`, async (t) => {
    const error = { kind: 'error', status: 429, message: 'Slow down.', headers: { 'retry-after': '60' } } as const
    const reply = await sendChat(fixture.scenario({ anthropic: error, gemini: error }), chat('hi', { model }))
    t.is(reply.status, 429)
    t.like(reply.json, { error: { type: 'rate_limit_error', code: null, param: null } })
    t.regex(String(valueAt(reply.json, 'error.message')), /Slow down\./)
    t.is(reply.headers['retry-after'], '60')
  })
}

test('translated: a chat request goes to anthropic with a version, and with the operator’s credential', async (t) => {
  const scenario = fixture.scenario()
  await sendChat(scenario, chat('hi', { model: MODELS.anthropic }))
  t.like(scenario.seen('anthropic')[0]?.headers, {
    'anthropic-version': '2023-06-01',
    'x-api-key': 'sk-ant-operator-key',
  })
  t.is(scenario.seen('anthropic')[0]?.headers.authorization, undefined)
})

test('translated: a temperature above anthropic’s maximum is capped, and that is reported', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('hi', { model: MODELS.anthropic, temperature: 1.7 }))
  t.is(scenario.seen('anthropic')[0]?.json?.temperature, 1)
  t.is(reply.headers['x-svc-dropped'], 'temperature')
})

for (const [claim, route, body, dropped] of [
  ['seed, towards anthropic', 'chat', chat('hi', { model: MODELS.anthropic, seed: 7 }), 'seed'],
  ['seed, of a stream', 'chat', streamed(chat('hi', { model: MODELS.anthropic, seed: 7 })), 'seed'],
  ['top_k, towards openai', 'messages', ask('hi', { model: MODELS.openai, top_k: 5 }), 'top_k'],
  ['top_k, of a stream', 'messages', ask('hi', { model: MODELS.openai, top_k: 5, stream: true }), 'top_k'],
  ['nothing, of a plain request', 'messages', ask('hi', { model: MODELS.openai }), undefined],
  ['nothing, of a plain chat', 'chat', chat('hi', { model: MODELS.anthropic }), undefined],
] as const) {
  test(`translated: dropped fields are reported: ${claim}`, async (t) => {
    const scenario = fixture.scenario()
    const reply = route === 'chat' ? await sendChat(scenario, body) : await scenario.send({ body })
    t.is(reply.status, 200, reply.text)
    t.is(reply.headers['x-svc-dropped'], dropped)
  })
}

for (const name of ['a\r\nx-evil: 1', '日本', 'x'.repeat(1000)]) {
  test(`translated: dropped fields are reported in a header that cannot be split: ${JSON.stringify(name.slice(0, 20))}`, async (t) => {
    const reply = await sendChat(fixture.scenario(), chat('hi', { model: MODELS.anthropic, seed: 7, [name]: 1 }))
    t.is(reply.status, 200, reply.error?.message)
    t.regex(String(reply.headers['x-svc-dropped']), /^[\x20-\x7e]{4,200}$/)
    t.true(String(reply.headers['x-svc-dropped']).includes('seed'))
    t.is(reply.headers['x-evil'], undefined)
  })
}

test('translated: a tool that runs at anthropic is refused towards openai, and named', async (t) => {
  const scenario = fixture.scenario()
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  const reply = await scenario.send({ body: ask('hi', { model: MODELS.openai, tools }) })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /openai.*tools\[0\]/)
  t.deepEqual(scenario.seen('openai'), [])
})

const thinking = (signature: string) => `{"type":"thinking","thinking":"hm","signature":${signature}}`
const history = (content: string, spoken = '"hi"') =>
  `{"model":"claude-sonnet-4-5", "max_tokens":1.0e2,"messages":[{"role":"user","content":${spoken}},` +
  ` {"role":"assistant","content":[${content}{"type":"text", "text":"\\u00e9"}]},{"role":"user","content":"go on"}],"metadata":{ "user_id":"u" }}`

/** Anthropic's answer to a signature that is not its own, once. */
const refusing: ScenarioScripts = {
  anthropic: (nth) =>
    nth === 1
      ? { kind: 'error', status: 400, message: 'messages.1.content.0: Invalid `signature` in `thinking` block' }
      : undefined,
}

for (const [claim, block] of [
  ['without a signature', thinking('""')],
  ['without a signature, printed with a space', thinking(' ""')],
  ['of Gemini', thinking('"gemini:abc"')],
] as const) {
  test(`translated: thinking ${claim} that anthropic refuses is taken out, and every other byte stays`, async (t) => {
    const scenario = fixture.scenario(refusing)
    const reply = await scenario.send({ body: history(`${block},`) })
    t.is(reply.status, 200, reply.text)
    t.deepEqual(
      scenario.seen('anthropic').map(({ raw }) => raw.toString()),
      [history(`${block},`), history('')],
    )
    t.is(reply.headers['x-svc-dropped'], 'messages.content.thinking')
  })
}

test('translated: thinking that anthropic signed stays, beside foreign thinking too', async (t) => {
  const scenario = fixture.scenario(refusing)
  const own = `${thinking('"EqQBCgIYAhIM"')},`
  await scenario.send({ body: history(`${thinking('""')},${own}`) })
  t.is(scenario.seen('anthropic')[1]?.raw.toString(), history(own))
})

test('translated: a refused signature that is not foreign reaches the client, and is not asked for again', async (t) => {
  const scenario = fixture.scenario(refusing)
  const reply = await scenario.send({ body: history(`${thinking('"EqQBCgIYAhIM"')},`) })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /Invalid `signature`/)
  t.is(scenario.seen('anthropic').length, 1)
})

test('translated: a refusal that stays without foreign thinking reaches the client after two calls', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 400, message: 'signature: still no' } })
  const reply = await scenario.send({ body: history(`${thinking('""')},`) })
  t.is(reply.status, 400)
  t.is(scenario.seen('anthropic').length, 2)
})

test('translated: a message of nothing but foreign thinking is left out', async (t) => {
  const scenario = fixture.scenario(refusing)
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] },
    { role: 'user', content: 'go on' },
  ]
  const reply = await scenario.send({ body: ask('', { messages }) })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(scenario.seen('anthropic')[1]?.json?.messages, [messages[0], messages[2]])
})

test('translated: thinking of a compatible service goes back to it, and is taken out towards anthropic', async (t) => {
  const scenario = fixture.scenario({
    ...refusing,
    house: { kind: 'answer', reasoning: 'I thought of it.', text: 'Yes.' },
  })
  const question = { role: 'user', content: 'Is it?' }
  const first = await scenario.send({ body: ask('', { model: MODELS.house, messages: [question] }) })
  const content = valueAt(first.json, 'content')
  t.like(valueAt(content, '0'), { type: 'thinking', thinking: 'I thought of it.' })
  const messages = [question, { role: 'assistant', content }, question]
  t.is((await scenario.send({ body: ask('', { model: MODELS.house, messages }) })).status, 200)
  t.is(valueAt(scenario.seen('house')[1]?.json, 'messages.1.reasoning_content'), 'I thought of it.')
  const reply = await scenario.send({ body: ask('', { model: MODELS.anthropic, messages }) })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(valueAt(scenario.seen('anthropic')[1]?.json, 'messages.1.content'), [{ type: 'text', text: 'Yes.' }])
})

test('translated: a strict tool of a chat client reaches anthropic with its schema', async (t) => {
  const scenario = fixture.scenario()
  await sendChat(scenario, chatWithTools({ model: MODELS.anthropic }))
  const [sent] = (scenario.seen('anthropic')[0]?.json?.tools ?? []) as JsonObject[] // safe: the stand-in accepted them
  t.deepEqual(sent?.input_schema, valueAt(chatTools, '0.function.parameters'))
})

test('translated: a call that message_start holds already reaches a chat client, its numbers as they came', async (t) => {
  const input = '{"city":"Zürich","n":1.0,"big":9007199254740993}'
  const call = `{"type":"tool_use","id":"toolu_1","name":"look","input":${input}}`
  const text = '{"type":"text","text":"Let me look."}'
  const usage = '{"input_tokens":5,"output_tokens":1}'
  const bytes =
    `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${text},${call}],"stop_reason":null,"usage":${usage}}}\n\n` +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}\n\n' +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n'
  const scenario = fixture.scenario({ anthropic: { kind: 'sse', bytes } })
  const completion = assembleCompletion(
    (await sendChat(scenario, chatWithTools({ model: MODELS.anthropic, stream: true }))).body,
  )
  t.is(valueAt(completion, 'choices.0.message.content'), 'Let me look.')
  t.like(valueAt(completion, 'choices.0.message.tool_calls.0'), {
    id: 'toolu_1',
    function: { name: 'look', arguments: input },
  })
})

test('translated: parts of an answer that a completion has no place for are named in x-svc-dropped', async (t) => {
  const content = [
    { type: 'redacted_thinking', data: 'abc' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'text', text: 'Found.', citations: [{ type: 'char_location', cited_text: 'x' }] },
  ]
  const scenario = fixture.scenario({ anthropic: { kind: 'answer', content } })
  const reply = await sendChat(scenario, chat('hi', { model: MODELS.anthropic }))
  t.is(valueAt(reply.json, 'choices.0.message.content'), 'Found.')
  const dropped = String(reply.headers['x-svc-dropped']).split(', ')
  for (const name of ['redacted_thinking', 'server_tool_use', 'web_search_tool_result', 'text.citations'])
    t.true(dropped.includes(`content.${name}`), name)
})

for (const model of [MODELS.anthropic, MODELS.gemini, MODELS.responder]) {
  test(`translated: a conversation in which a call was cut goes on at ${model}`, async (t) => {
    const cut = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Kö' } }
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [cut] },
      { role: 'tool', tool_call_id: 'call_1', content: 'The arguments are no JSON.' },
    ]
    const scenario = fixture.scenario()
    const reply = await sendChat(scenario, { ...chatWithTools({ model }), messages })
    t.is(reply.status, 200, reply.text)
    const sent = MODELS.anthropic === model ? 'anthropic' : model === MODELS.gemini ? 'gemini' : 'responder'
    t.true(scenario.seen(sent)[0]?.raw.includes('Kö'))
  })
}
