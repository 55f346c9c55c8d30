import test from 'ava'
import {
  chat,
  chatWithFile,
  chatWithImages,
  chatWithJsonSchema,
  chatWithReasoning,
  chatWithReasoningHistory,
  chatWithSettings,
  chatWithToolHistory,
  chatWithTools,
  chatWithUnknownMembers,
  conversation,
  streamed,
  user,
} from './chat-bodies.ts'
import { type SendOptions, send } from './http-client.ts'
import { valueAt } from './json.ts'
import { holdEvent } from './provider/script.ts'
import { type OpenAIOptions, startOpenAI } from './stand-in-openai.ts'

const path = '/v1/chat/completions'
const compatible: OpenAIOptions = { flavour: 'compatible' }

/** A request that must be refused: its fault, the request, and the expected refusal. */
interface BadRequest extends SendOptions {
  claim: string
  options?: OpenAIOptions
  status?: number
  message: string
  code?: string
}

const badRequests: BadRequest[] = [
  { claim: 'an unknown path', path: '/v1/nothing', status: 404, message: 'Invalid URL (POST /v1/nothing)' },
  { claim: 'a request without a key', headers: { 'x-api-key': 'x' }, status: 401, message: "didn't provide" },
  {
    claim: 'a wrong key',
    options: { apiKey: 'sk-other' },
    status: 401,
    message: 'Incorrect API key',
    code: 'invalid_api_key',
  },
  { claim: 'a type that is not JSON', headers: { 'content-type': 'text/plain' }, message: 'Content-Type' },
  { claim: 'a body that does not parse', body: '{"model":', message: 'could not parse the JSON body' },
  {
    claim: 'a model that does not exist',
    options: { models: ['a'] },
    status: 404,
    message: '`gpt-4o-mini` does not exist',
    code: 'model_not_found',
  },
  {
    claim: 'a routing prefix',
    body: chat('hi', { model: 'openai/gpt-4o' }),
    status: 404,
    message: 'does not exist',
    code: 'model_not_found',
  },
  {
    claim: 'an unknown model of the list',
    method: 'GET',
    path: '/v1/models/x',
    options: { models: ['a'] },
    status: 404,
    message: '`x`',
    code: 'model_not_found',
  },
]

for (const { claim, options, status = 400, message, code = null, ...request } of badRequests) {
  test(`chat stand-in: rejects ${claim}`, async (t) => {
    await using server = await startOpenAI(options)
    const body = request.method === 'GET' ? {} : { body: chat('hi') }
    const reply = await send(server.url, { path, ...body, ...request })
    t.is(reply.status, status, reply.text)
    t.like(reply.json, { error: { type: 'invalid_request_error', param: null, code } })
    t.true(String(valueAt(reply.json, 'error.message')).includes(message), reply.text)
    t.is(server.seen[0]?.refused?.status, status)
  })
}

const onOpenAI = {
  settings: chatWithSettings(),
  images: chatWithImages(),
  'a PDF': chatWithFile(),
  tools: chatWithTools(),
  'a tool history': chatWithToolHistory(),
  'a strict JSON schema': chatWithJsonSchema(),
  'an effort': chatWithReasoning(),
  'stop of gpt-5.5': chatWithReasoning({ model: 'gpt-5.5', stop: 'x' }),
  'null for a parameter that may be null': chat('hi', { stop: null, temperature: null, reasoning_effort: null }),
  'a reply sent back as it came': conversation([
    user('hi'),
    { role: 'assistant', content: null, refusal: 'No.', annotations: [], audio: null, function_call: null },
    user('why?'),
  ]),
}
const onCompatible = {
  settings: chatWithSettings({ max_completion_tokens: undefined, max_tokens: 50 }),
  images: chatWithImages(),
  'a tool history': chatWithToolHistory(),
  'a reasoning history': chatWithReasoningHistory(),
  'unknown members': chatWithUnknownMembers(),
  'a model with a slash': chat('hi', { model: 'deepseek-ai/DeepSeek-V3' }),
}

for (const [flavour, bodies] of Object.entries({ openai: onOpenAI, compatible: onCompatible })) {
  for (const [claim, body] of Object.entries(bodies)) {
    test(`chat stand-in: ${flavour} accepts ${claim}`, async (t) => {
      await using server = await startOpenAI(flavour === 'openai' ? {} : compatible)
      const reply = await send(server.url, { path, body })
      t.is(reply.status, 200, reply.text)
      t.is(server.seen[0]?.refused, undefined)
    })
  }
}

test('chat stand-in: a compatible server repeats the status as its code', async (t) => {
  await using server = await startOpenAI({ ...compatible, script: { kind: 'error', status: 429 } })
  const reply = await send(server.url, { path, body: chat('hi') })
  t.deepEqual(reply.json, {
    error: { message: 'Scripted requests', type: 'RateLimitError', param: null, code: 429 },
  })
})

test('chat stand-in: a scripted rate limit has the shape and headers of OpenAI', async (t) => {
  const headers = { 'retry-after': '1' }
  await using server = await startOpenAI({ script: { kind: 'error', status: 429, message: 'slow', headers } })
  const reply = await send(server.url, { path, body: chat('hi') })
  const error = { message: 'slow', type: 'requests', param: null, code: 'rate_limit_exceeded' }
  t.deepEqual(reply.json, { error })
  t.like(reply.headers, { 'retry-after': '1', 'x-ratelimit-limit-requests': '10000', 'openai-processing-ms': '42' })
  t.regex(String(reply.headers['x-request-id']), /^req_/)
})

test('chat stand-in: lists its models and describes one, slashes in its name included', async (t) => {
  await using server = await startOpenAI({ ...compatible, models: ['a', 'b/c'] })
  const list = await send(server.url, { method: 'GET', path: '/v1/models' })
  t.like(list.json, { object: 'list', data: { 0: { id: 'a', object: 'model' }, 1: { id: 'b/c' } } })
  const one = await send(server.url, { method: 'GET', path: '/v1/models/b%2Fc' })
  t.like(one.json, { id: 'b/c', object: 'model', owned_by: 'system' })
})

test('chat stand-in: gives the nth valid request its script and the others the default', async (t) => {
  await using server = await startOpenAI()
  server.reply((_request, nth) => (nth === 1 ? { kind: 'reply', status: 418, body: 'tea' } : undefined))
  const statuses = []
  for (const body of ['{', chat('hi'), chat('hi')]) statuses.push((await send(server.url, { path, body })).status)
  t.deepEqual(statuses, [400, 418, 200])
})

test('chat stand-in: accepts everything with `acceptAnything`', async (t) => {
  await using server = await startOpenAI({ acceptAnything: true, script: { kind: 'reply', body: 'ok' } })
  t.is((await send(server.url, { path: '/v1/responses', body: '{' })).text, 'ok')
  t.is(server.seen[0]?.refused, undefined)
})

test('chat stand-in: keeps the exact bytes and headers of a request', async (t) => {
  await using server = await startOpenAI(compatible)
  const body = '{ "model":"m", "messages":[{"role":"user","content":"\\u00e9"}] , "x": [1.0 ]}'
  await send(server.url, { path, headers: { 'X-Odd-Case': '1' }, body })
  t.is(server.seen[0]?.raw.toString(), body)
  t.true(server.seen[0]?.rawHeaders.includes('X-Odd-Case'))
  t.is(await server.seen[0]?.closed, 'finished')
})

test('chat stand-in: holds a stream at an event until the gate opens', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using server = await startOpenAI({ script: { kind: 'answer', writes: holdEvent(2, gate.promise) } })
  let received = ''
  let atGate = 0
  const onChunk = (chunk: Buffer) => {
    received += chunk
    const count = received.split('\n\n').length - 1
    if (count < 2) return
    atGate ||= count
    gate.resolve()
  }
  t.true((await send(server.url, { path, body: streamed(chat('hi')), onChunk })).endedCleanly)
  t.is(atGate, 2)
})

test('chat stand-in: cuts a stream after exactly the bytes scripted', async (t) => {
  await using server = await startOpenAI({ script: { kind: 'answer', cutAfterBytes: 33 } })
  const reply = await send(server.url, { path, body: streamed(chat('hi')) })
  t.like(reply, { status: 200, endedCleanly: false })
  t.is(reply.body.length, 33)
  t.is(await server.seen[0]?.closed, 'cut')
})

test('chat stand-in: breaks, hangs and answers garbage like the other stand-in', async (t) => {
  await using server = await startOpenAI()
  server.reply({ kind: 'break', at: 'before-headers' })
  t.is((await send(server.url, { path, body: chat('hi') })).error?.code, 'ECONNRESET')
  server.reply({ kind: 'garbage' })
  t.true((await send(server.url, { path, body: chat('hi') })).error?.code?.startsWith('HPE_'))
  server.reply({ kind: 'hang', at: 'before-headers' })
  const leaving = new AbortController()
  const hanging = send(server.url, { path, body: chat('hi'), signal: leaving.signal })
  await server.until(() => server.seen.length === 3)
  t.is(server.pending(), 1)
  leaving.abort()
  t.is((await hanging).status, 0)
  t.is(await server.seen[2]?.closed, 'client-left')
  await server.until(() => server.connections() === 0)
})

test('chat stand-in: a script that throws fails the test at close()', async (t) => {
  const script = () => {
    throw new Error('bad script')
  }
  const server = await startOpenAI({ script })
  t.is((await send(server.url, { path, body: chat('hi') })).status, 0)
  await t.throwsAsync(server.close(), { message: 'bad script' })
})
