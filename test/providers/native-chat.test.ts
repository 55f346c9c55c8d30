import test, { type ExecutionContext } from 'ava'
import { chat, streamed, streamedWithUsage } from '../support/chat-bodies.ts'
import { assertChatStream } from '../support/chat-chunks.ts'
import { logLineOf, sendChat } from '../support/door.ts'
import type { JsonObject } from '../support/json.ts'
import type { ChatScript } from '../support/openai/script.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'
import { startOpenAI } from '../support/stand-in-openai.ts'

/** Plugins that edit the request, by their edit. */
const edits = {
  cool: `{ op: 'add', path: ['temperature'], value: 0.5 }`,
  brief: `{ op: 'add', path: ['system'], value: 'Be brief.' }`,
  unstop: `{ op: 'remove', path: ['stop_sequences'] }`,
  cap: `{ op: 'replace', path: ['max_tokens'], value: 7 }`,
  rename: `{ op: 'replace', path: ['model'], value: 'other' }`,
}
let removePlugins = () => {}
const teardown = (remove: () => void) => {
  removePlugins = remove
}
const plugins = createPluginDirectory(
  { teardown },
  Object.fromEntries(
    Object.entries(edits).map(([name, edit]) => [
      `${name}/index.ts`,
      pluginSource(name, { onError: 'refuse', run: `exchange.edit(${edit}); await next()` }),
    ]),
  ),
)
/** A service to which the operator sends a header of their own. */
const fixed = await startOpenAI({ flavour: 'compatible', apiKey: 'fixed-key' })
const service = { base_url: `${fixed.url}/v1`, api_key: 'fixed-key', headers: { 'X-App': 'operator' } }
/** A service whose credential is a header of the operator, with a key that is not its own. */
const proxied = { base_url: `${fixed.url}/v1`, api_key: 'another-key', headers: { Authorization: 'Bearer fixed-key' } }
const fixture = await openProviderFixture({
  config: { providers: { tries: 1, 'openai-compatible': { fixed: service, proxied } } },
  env: { SVC_PLUGINS_DIR: plugins.path },
})
test.after.always(async () => {
  await fixture.close()
  await fixed.close()
  removePlugins()
})

/** Builds a body that no printer would print: spaces, escapes, numbers that JSON.parse changes, unknown fields. */
const odd = (model: string) =>
  `\n{ "model" : "${model}",\r\n\t"messages":[ {"role":"user","content":"h\\u00e9llo \\/ \\ud83d\\ude00 \\"model\\": 1"} ],` +
  ' "seed":9007199254740993, "temperature":1.0e0,"top_p":1.0,"stop":["x" ], "novel":{"10":1.0,"2":[ 1 ,2],"model":"m"}, "none":null } '

test('native chat: a body goes out byte for byte when its model needs no other name', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, odd('gpt-4o'))
  t.is(scenario.seen('openai')[0]?.raw.toString(), odd('gpt-4o'))
  t.is(reply.status, 400, 'the stand-in takes no unknown parameter')
})

test('native chat: of a body with a prefix before its model only the prefix is taken out', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, odd('house/qwen3-32b'))
  t.is(reply.status, 200, reply.text)
  t.is(scenario.seen('house')[0]?.raw.toString(), odd('qwen3-32b'))
})

test('native chat: a model that is written with escapes is found and given its own name', async (t) => {
  const scenario = fixture.scenario()
  const body = '{"mod\\u0065l":"ho\\u0075se/qwen3","messages":[{"role":"user","content":"hi"}]}'
  t.is((await sendChat(scenario, body)).status, 200)
  t.is(scenario.seen('house')[0]?.raw.toString(), body.replace('"ho\\u0075se/qwen3"', '"qwen3"'))
})

test('native chat: a second model, escaped, is refused: the provider might believe that one', async (t) => {
  const scenario = fixture.scenario()
  const body = '{"model":"house/a","mod\\u0065l":"house/b","messages":[{"role":"user","content":"hi"}]}'
  const reply = await sendChat(scenario, body)
  t.is(reply.status, 400)
  t.like(reply.json, { error: { type: 'invalid_request', param: 'model' } })
  t.deepEqual(scenario.seen('house'), [])
})

test('native chat: the query string is forwarded', async (t) => {
  const scenario = fixture.scenario()
  await sendChat(scenario, chat('hi'), { path: '/v1/chat/completions?api-version=2024-10-21&x=%2F' })
  t.is(scenario.seen('openai')[0]?.url, '/v1/chat/completions?api-version=2024-10-21&x=%2F')
})

test('native chat: the operator’s credential goes out, the caller’s and what chooses its account do not', async (t) => {
  const scenario = fixture.scenario()
  const account = { 'openai-organization': 'org', 'openai-project': 'proj', 'idempotency-key': 'order-1' }
  await sendChat(scenario, chat('hi'), {
    headers: { authorization: 'Bearer sk-caller-own', 'openai-beta': 'assistants=v2', ...account },
  })
  const [seen] = scenario.seen('openai')
  t.is(seen?.headers.authorization, 'Bearer sk-operator-key')
  t.is(seen?.headers['openai-beta'], 'assistants=v2')
  for (const name of Object.keys(account)) t.is(seen?.headers[name], undefined, name)
  t.false(seen?.rawHeaders.some((value) => value.includes('sk-caller-own')))
})

test('native chat: headers that the operator has fixed replace the caller’s', async (t) => {
  await sendChat(fixture.scenario(), chat('hi', { model: 'fixed/model' }), { headers: { 'x-app': 'cli' } })
  const [seen] = fixed.seen
  t.is(seen?.headers['x-app'], 'operator')
  const names = seen?.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()) ?? []
  t.deepEqual(names, [...new Set(names)], 'each header once')
  t.is((await sendChat(fixture.scenario(), chat('hi', { model: 'proxied/model' }))).status, 200, 'and the credential’s')
})

test('native chat: a JSON reply comes back byte for byte, with the provider’s headers, and its tokens are logged', async (t) => {
  const body =
    '{ "id":"c","object":"chat.completion", "choices":[ {"index":0,"message":{"role":"assistant","content":"\\u00e9\\/"},"finish_reason":"stop"}],\n' +
    ' "usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}, "big":9007199254740993, "one":1.0 }\n'
  const scenario = fixture.scenario({
    openai: { kind: 'reply', body, headers: { 'x-ratelimit-remaining-tokens': '7' } },
  })
  const reply = await sendChat(scenario, chat('hi'))
  t.is(reply.text, body)
  t.is(reply.headers['x-ratelimit-remaining-tokens'], '7')
  t.like(await logLineOf(fixture.gateway, reply), { provider: 'openai', status: 200, tokens: { in: 3, out: 5 } })
})

for (const status of [400, 401, 403, 404, 409, 413, 422, 429]) {
  test(`native chat: a provider’s ${status} reaches the client as it came`, async (t) => {
    const body = `{ "error":{"message":"no \\u00e9","type":"odd","param":"x[0]","code":"e${status}","n":1.0} }\n`
    const headers = { 'retry-after': '60', 'x-request-id': 'req_theirs' }
    const scenario = fixture.scenario({ openai: { kind: 'reply', status, body, headers } })
    const reply = await sendChat(scenario, chat('hi'))
    t.is(reply.status, status)
    t.is(reply.text, body)
    t.like(reply.headers, { ...headers, 'content-type': 'application/json' })
    t.is(scenario.seen('openai').length, 1)
  })
}

/** A stream as no printer prints it, and its chunk of usage. */
const usage = 'data: {"id":"c","choices" : [ ],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}'
const pieces = (end: string) => ({
  before:
    `: OPENROUTER PROCESSING${end}${end}` +
    `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null,"obfuscation":"aZ"}${end}${end}` +
    `data:{"id":"c","choices":[{"index":0,"delta":{"content":"é 😀 \\"choices\\":[] \\"usage\\":{"},"finish_reason":null}],"usage":null}${end}${end}` +
    `data: {"id":"c","choices":[],"prompt_filter_results":[ ],"usage":null}${end}${end}` +
    `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null, "n":1.0}${end}${end}`,
  usage: `${usage}${end}${end}`,
  after: `: bye${end}${end}data: [DONE]${end}${end}`,
})

async function assertUsageTakenOut(t: ExecutionContext, script: { bytes: string; rest: string; sizes: number[] }) {
  const { bytes, rest, sizes } = script
  const scenario = fixture.scenario({ openai: { kind: 'sse', bytes, writes: { sizes, atMost: 5000 } } })
  const reply = await sendChat(scenario, streamed(chat('hi')))
  t.is(reply.text, rest)
  t.like(await logLineOf(fixture.gateway, reply), { delivered: undefined, tokens: { in: 3, out: 5 } })
}

for (const [name, end] of Object.entries({ LF: '\n', CRLF: '\r\n' })) {
  for (const sizes of [[1], [3, 50, 7], [100_000]]) {
    test(`native chat: only the chunk of usage is removed from a stream that did not request it (${name}, writes of ${sizes})`, async (t) => {
      const { before, usage: chunk, after } = pieces(end)
      await assertUsageTakenOut(t, { bytes: before + chunk + after, rest: before + after, sizes })
    })
  }
}

test('native chat: a stream whose client asked for usage is not touched in either direction', async (t) => {
  const { before, usage: chunk, after } = pieces('\n')
  const scenario = fixture.scenario({ openai: { kind: 'sse', bytes: before + chunk + after, writes: { sizes: [11] } } })
  const body = JSON.stringify(streamedWithUsage(chat('hi')))
  const reply = await sendChat(scenario, body)
  t.is(reply.text, before + chunk + after)
  t.is(scenario.seen('openai')[0]?.raw.toString(), body)
  t.like(await logLineOf(fixture.gateway, reply), { tokens: { in: 3, out: 5 } })
})

test('native chat: a stream of an ordinary provider is a valid one without usage', async (t) => {
  const reply = await sendChat(fixture.scenario(), streamed(chat('hello')))
  t.true(assertChatStream(reply.body.toString().replaceAll(',"usage":null', '')).every((chunk) => !chunk.usage))
})

const asked: [claim: string, options: string, sent: string][] = [
  ['no stream_options', '', ',"stream_options":{"include_usage":true}'],
  ['empty stream_options', ',"stream_options":{ }', ',"stream_options":{"include_usage":true }'],
  ['stream_options of null', ',"stream_options": null', ',"stream_options": {"include_usage":true}'],
  ['include_usage: false', ',"stream_options":{"include_usage": false}', ',"stream_options":{"include_usage": true}'],
  ['include_usage: null', ',"stream_options":{"include_usage":null}', ',"stream_options":{"include_usage":true}'],
  [
    'another option',
    ',"stream_options":{ "include_obfuscation":false}',
    ',"stream_options":{ "include_obfuscation":false,"include_usage":true}',
  ],
]
for (const [claim, options, sent] of asked) {
  test(`native chat: a stream with ${claim} is asked for its usage, and nothing else of the body is changed`, async (t) => {
    const scenario = fixture.scenario()
    const body = (given: string) =>
      `{"model":"gpt-4o", "messages":[{"role":"user","content":"hi"}],"stream":true${given}}`
    const reply = await sendChat(scenario, body(options))
    t.is(reply.status, 200, reply.text)
    t.is(scenario.seen('openai')[0]?.raw.toString(), body(sent))
    t.notRegex(reply.text, /"usage":\{/)
  })
}

test('native chat: JSON is not asked for usage by an option that is for streams only', async (t) => {
  const scenario = fixture.scenario()
  await sendChat(scenario, chat('hi', { stream: false }))
  t.is(scenario.seen('openai')[0]?.json?.stream_options, undefined)
})

const edited: [module: string, given: string, sent: string][] = [
  ['cool', '"temperature":1.0e0', '"temperature":0.5'],
  ['unstop', '"stop":["x" ],', ''],
  ['cap', ' "max_tokens":100', ' "max_tokens":7'],
]
for (const [module, given, sent] of edited) {
  test(`native chat: a plugin that edits the request (${module}) changes its field and nothing else`, async (t) => {
    const scenario = fixture.scenario()
    const body = odd('house/qwen3').replace(' "none"', ' "max_tokens":100, "none"')
    t.true(body.includes(given))
    const reply = await sendChat(scenario, body, { headers: { 'x-svc-pipe': module } })
    t.is(reply.status, 200, reply.text)
    t.is(scenario.seen('house')[0]?.raw.toString(), body.replace('house/', '').replace(given, sent))
  })
}

test('native chat: a plugin’s system prompt becomes a message, and fields that it did not touch stay as they were', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, odd('house/qwen3'), { headers: { 'x-svc-pipe': 'brief' } })
  t.is(reply.status, 200, reply.text)
  const { messages } = scenario.seen('house')[0]?.json ?? {}
  const [first, second] = messages as JsonObject[] // safe: the stand-in accepted them
  t.deepEqual(first, { role: 'system', content: 'Be brief.' })
  t.like(second, { role: 'user', content: 'héllo / 😀 "model": 1' })
  t.is(outsideMessages(scenario.seen('house')[0]?.raw), outsideMessages(odd('qwen3')))
})

const outsideMessages = (body: Buffer | string | undefined) => String(body).replace(/"messages":\[.*?\],/s, '')

test('native chat: a plugin’s edit of the token limit keeps the name that the client gave it', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('hi', { max_tokens: 50 }), { headers: { 'x-svc-pipe': 'cap' } })
  t.is(reply.status, 200, reply.text)
  const { max_tokens: old, max_completion_tokens: current } = scenario.seen('openai')[0]?.json ?? {}
  t.is(current ?? old, 7)
  t.true(old === undefined || current === undefined)
})

test('native chat: fields that a plugin’s edit of the messages could not carry are reported', async (t) => {
  const scenario = fixture.scenario()
  const body = chat('hi', { model: 'house/qwen3', messages: [{ role: 'user', content: 'hi', name: 'Ada' }] })
  const reply = await sendChat(scenario, body, { headers: { 'x-svc-pipe': 'brief' } })
  t.is(reply.status, 200, reply.text)
  const kept = JSON.stringify(scenario.seen('house')[0]?.json?.messages).includes('Ada')
  t.true(kept || String(reply.headers['x-svc-dropped']).includes('messages.name'))
})

test('native chat: messages that a plugin’s edit cannot carry are refused, not left out', async (t) => {
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const messages = [{ role: 'user', content: [audio, { type: 'text', text: 'What is said?' }] }]
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('', { model: 'house/qwen3', messages }), {
    headers: { 'x-svc-pipe': 'brief' },
  })
  const sent = JSON.stringify(scenario.seen('house')[0]?.json ?? {})
  t.true(reply.status === 400 || sent.includes('input_audio'), `${reply.status} ${sent}`)
})

test('native chat: a plugin that edits the model does not break the request', async (t) => {
  const reply = await sendChat(fixture.scenario(), chat('hi', { model: 'house/qwen3' }), {
    headers: { 'x-svc-pipe': 'rename' },
  })
  t.is(reply.status, 200, reply.text)
})

const broken: [claim: string, script: ChatScript][] = [
  ['is no JSON', { kind: 'reply', body: '<html>busy</html>', headers: { 'content-type': 'text/html' } }],
  ['is empty', { kind: 'reply', body: '' }],
]
for (const [claim, openai] of broken) {
  test(`native chat: a reply that ${claim} passes as it is, and is not counted`, async (t) => {
    const reply = await sendChat(fixture.scenario({ openai }), chat('hi'))
    t.is(reply.status, 200)
    t.is((await logLineOf(fixture.gateway, reply)).tokens, undefined)
  })
}
