import test from 'ava'
import { assembleMessage, assertMessageStream } from './events.ts'
import { ask, type SendOptions, send } from './http-client.ts'
import { type JsonObject, valueAt } from './json.ts'
import { loadRecordings } from './recordings.ts'
import { type ProviderOptions, startProvider } from './stand-in-provider.ts'

const KEY = { 'x-api-key': 'sk-test' }

/** A request that must be refused: its fault, the request, and the expected refusal. */
interface BadRequest extends SendOptions {
  claim: string
  options?: ProviderOptions
  status?: number
  type?: string
  message: string
}

const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })
const text = (words: string) => ({ type: 'text', text: words })
const user = (...content: JsonObject[]) => ({ role: 'user', content })
const assistant = (...content: JsonObject[]) => ({ role: 'assistant', content })
const talk = (...messages: JsonObject[]) => ask('', { messages })
const without = (name: string) => Object.fromEntries(Object.entries(ask('hi')).filter(([key]) => key !== name))
const marked = { ...text('hi'), cache_control: { type: 'ephemeral' } }

const badRequests: BadRequest[] = [
  { claim: 'an unknown path', path: '/v1/nothing', status: 404, message: 'Not found' },
  { claim: 'a wrong method', method: 'GET', status: 404, message: 'Not found' },
  {
    claim: 'a request without a key',
    headers: { authorization: 'Bearer x' },
    status: 401,
    message: 'x-api-key header',
  },
  { claim: 'a wrong key', options: { apiKey: 'sk-other' }, status: 401, message: 'invalid x-api-key' },
  { claim: 'a missing version when strict', options: { strictVersion: true }, message: 'anthropic-version: header is' },
  {
    claim: 'an unknown version when strict',
    options: { strictVersion: true },
    headers: { ...KEY, 'anthropic-version': '1999-01-01' },
    message: 'anthropic-version: "1999-01-01" is not a valid version',
  },
  {
    claim: 'a body that is not JSON by its type',
    headers: { ...KEY, 'content-type': 'text/plain' },
    message: 'content-',
  },
  { claim: 'a body that does not parse', body: '{"model":', message: 'not valid JSON' },
  { claim: 'a body that is no object', body: '[]', message: 'valid dictionary' },
  { claim: 'a body over the limit', options: { maxBodyBytes: 20 }, status: 413, message: 'maximum size' },
  { claim: 'a body without model', body: without('model'), message: 'model: Field required' },
  { claim: 'a body without max_tokens', body: without('max_tokens'), message: 'max_tokens: Field required' },
  { claim: 'a body without messages', body: without('messages'), message: 'messages: Field required' },
  { claim: 'a model that is no string', body: ask('hi', { model: 3 }), message: 'model: Input' },
  {
    claim: 'a model with its routing prefix',
    body: ask('hi', { model: 'anthropic/x' }),
    status: 404,
    message: 'model: a',
  },
  {
    claim: 'a model that does not exist',
    options: { models: ['a'] },
    status: 404,
    message: 'model: claude-sonnet-4-5',
  },
  { claim: 'a stream flag that is no boolean', body: ask('hi', { stream: 1 }), message: 'stream: Input' },
  { claim: 'max_tokens below 1', body: ask('hi', { max_tokens: 0 }), message: 'max_tokens: must be greater' },
  { claim: 'a fractional max_tokens', body: ask('hi', { max_tokens: 1.5 }), message: 'max_tokens: Input' },
  { claim: 'a temperature above 1', body: ask('hi', { temperature: 1.1 }), message: 'temperature: range' },
  { claim: 'a temperature below 0', body: ask('hi', { temperature: -0.1 }), message: 'temperature: range' },
  { claim: 'a top_p above 1', body: ask('hi', { top_p: 2 }), message: 'top_p: range' },
  {
    claim: 'max_tokens within the thinking budget',
    body: ask('hi', { thinking: { type: 'enabled', budget_tokens: 100 } }),
    message: '`max_tokens` must be greater than `thinking.budget_tokens`',
  },
  {
    claim: 'two tools of one name',
    body: ask('hi', { tools: [{ name: 'a' }, { name: 'a' }] }),
    message: 'must be unique',
  },
  { claim: 'a tool without a name', body: ask('hi', { tools: [{}] }), message: 'tools.0.name: Field required' },
  {
    claim: 'a tool_choice that is not offered',
    body: ask('hi', { tools: [{ name: 'a' }], tool_choice: { type: 'tool', name: 'b' } }),
    message: "Tool 'b' not found",
  },
  { claim: 'a fifth cache breakpoint', body: talk(user(marked, marked, marked, marked, marked)), message: 'Found 5' },
  { claim: 'messages that are no list', body: ask('hi', { messages: 'hi' }), message: 'messages: Input' },
  { claim: 'an empty conversation', body: talk(), message: 'at least one message' },
  { claim: 'an unknown role', body: talk({ role: 'tool', content: 'x' }), message: 'messages.0.role' },
  { claim: 'a message without content', body: talk({ role: 'user' }), message: 'messages.0.content: Field' },
  { claim: 'empty content', body: talk({ role: 'user', content: '' }), message: 'non-empty content' },
  { claim: 'an empty text block', body: talk(user(text(''))), message: 'text content blocks must be non-empty' },
  { claim: 'a block without a type', body: talk(user({ text: 'x' })), message: 'messages.0.content.0.type' },
  { claim: 'a tool_use of the user', body: talk(user(call('a'))), message: 'only be in `assistant`' },
  {
    claim: 'a tool_use whose input is no object',
    body: talk(user(text('go')), assistant({ ...call('a'), input: '{}' }), user(result('a'))),
    message: 'messages.1.content.0.tool_use.input',
  },
  { claim: 'a tool_result without its tool_use', body: talk(user(result('a'))), message: 'unexpected `tool_use_id`' },
  {
    claim: 'a tool_result for a call two turns back',
    body: talk(user(text('go')), assistant(call('a')), user(result('a')), assistant(text('so')), user(result('a'))),
    message: 'messages.4: unexpected `tool_use_id` found in `tool_result` blocks: a',
  },
  {
    claim: 'a tool_use without its tool_result',
    body: talk(user(text('go')), assistant(call('a'), call('b')), user(result('a'))),
    message: 'found without `tool_result` blocks immediately after: b',
  },
  {
    claim: 'a tool_result after text of its message',
    body: talk(user(text('go')), assistant(call('a')), user(text('first'), result('a'))),
    message: 'must come first',
  },
  {
    claim: 'two results of one call',
    body: talk(user(text('go')), assistant(call('a')), user(result('a'), result('a'))),
    message: 'multiple `tool_result`',
  },
  { claim: 'a model list limit of 0', method: 'GET', path: '/v1/models?limit=0', message: 'limit: must be' },
]

for (const { claim, options, status = 400, message, ...request } of badRequests) {
  test(`stand-in: rejects ${claim}`, async (t) => {
    await using provider = await startProvider(options)
    const body = request.method === 'GET' ? {} : { body: ask('hi') }
    const reply = await send(provider.url, { headers: KEY, ...body, ...request })
    t.is(reply.status, status, reply.text)
    t.like(reply.json, { type: 'error', request_id: reply.headers['request-id'] })
    t.true(String(valueAt(reply.json, 'error.message')).includes(message), reply.text)
    t.is(provider.seen[0]?.refused?.status, status)
  })
}

test('stand-in: accepts parallel tool results, text after them, and system messages between', async (t) => {
  await using provider = await startProvider()
  const system = { role: 'system', content: 'be brief' }
  const calls = assistant(text('let me see'), call('a'), call('b'))
  const body = talk(user(text('go')), calls, system, user(result('b'), result('a')), user(text('and?')), system)
  t.is((await send(provider.url, { headers: KEY, body })).status, 200)
})

test('stand-in: accepts no or any version, and a Bearer key, by its options', async (t) => {
  await using provider = await startProvider({ apiKey: 'sk-test', acceptBearer: true })
  const headers = { authorization: 'Bearer sk-test', 'anthropic-version': 'tomorrow' }
  t.is((await send(provider.url, { headers, body: ask('hi') })).status, 200)
})

test('stand-in: accepts every recorded request that the provider accepted', async (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  await using provider = await startProvider()
  for (const { name, request, response } of items) {
    if (response.status !== 200) continue
    const { status, text } = await send(provider.url, { ...request, headers: { ...request.headers, ...KEY } })
    t.is(status, 200, `${name}: ${text}`)
  }
  t.pass()
})

test('stand-in: answers JSON with the last user text and a usage with cache fields', async (t) => {
  await using provider = await startProvider()
  const reply = await send(provider.url, { headers: KEY, body: ask('hello there') })
  t.is(reply.headers['content-type'], 'application/json')
  t.like(reply.json, { type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' })
  t.is(valueAt(reply.json, 'content.0.text'), 'You said: hello there')
  const usage = { output_tokens: 4, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  t.like(valueAt(reply.json, 'usage'), usage)
})

test('stand-in: streams the same message as a valid stream with a ping', async (t) => {
  await using provider = await startProvider()
  const reply = await send(provider.url, { headers: KEY, body: ask('hello there', { stream: true }) })
  t.is(reply.headers['content-type'], 'text/event-stream; charset=utf-8')
  const events = assertMessageStream(reply.body)
  t.true(events.some(({ event }) => event === 'ping'))
  t.is(valueAt(assembleMessage(events), 'content.0.text'), 'You said: hello there')
})

test('stand-in: stops at max_tokens words', async (t) => {
  await using provider = await startProvider()
  const reply = await send(provider.url, { headers: KEY, body: ask('one two three', { max_tokens: 3 }) })
  t.like(reply.json, { stop_reason: 'max_tokens', usage: { output_tokens: 3 } })
  t.is(valueAt(reply.json, 'content.0.text'), 'You said: one')
})

test('stand-in: streams scripted blocks of every kind so that they assemble again', async (t) => {
  const content = [
    { type: 'thinking', thinking: 'Let me  see.\n', signature: 'c2ln' },
    { type: 'text', text: ' Größe: 3 🙂\n\n', citations: [{ type: 'char_location', cited_text: 'x' }] },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a "b" \\ 🙂' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'tool_use', id: 'toolu_1', name: 'none', input: {} },
  ]
  await using provider = await startProvider({ script: { kind: 'answer', content } })
  const plain = await send(provider.url, { headers: KEY, body: ask('go') })
  const streamed = await send(provider.url, { headers: KEY, body: ask('go', { stream: true }) })
  const message = assembleMessage(assertMessageStream(streamed.body))
  t.deepEqual(message.content, valueAt(plain.json, 'content'))
  t.is(message.stop_reason, 'tool_use')
})

test('stand-in: counts tokens without max_tokens', async (t) => {
  await using provider = await startProvider()
  const path = '/v1/messages/count_tokens?beta=true'
  const reply = await send(provider.url, { headers: KEY, path, body: without('max_tokens') })
  t.true(Number(valueAt(reply.json, 'input_tokens')) > 0)
})

test('stand-in: lists models page by page', async (t) => {
  await using provider = await startProvider({ models: ['a', 'b', 'c'] })
  const first = await send(provider.url, { headers: KEY, method: 'GET', path: '/v1/models?limit=2' })
  t.like(first.json, { has_more: true, first_id: 'a', last_id: 'b' })
  const second = await send(provider.url, { headers: KEY, method: 'GET', path: '/v1/models?limit=2&after_id=b' })
  t.like(second.json, { has_more: false, first_id: 'c', last_id: 'c' })
})

test('stand-in: keeps the exact bytes and headers of a request', async (t) => {
  await using provider = await startProvider()
  const body = '{ "model":"m","max_tokens":1.0e1, "messages":[{"role":"user","content":"\\u00e9"}] , "x": [1 ]}'
  await send(provider.url, { headers: { ...KEY, 'X-Odd-Case': '1' }, body })
  t.is(provider.seen[0]?.raw.toString(), body)
  t.true(provider.seen[0]?.rawHeaders.includes('X-Odd-Case'))
  t.is(await provider.seen[0]?.closed, 'finished')
})
