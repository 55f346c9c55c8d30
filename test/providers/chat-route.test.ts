import test from 'ava'
import { chat, conversation, streamed } from '../support/chat-bodies.ts'
import { parseChatChunks } from '../support/chat-chunks.ts'
import { ROUTES, sendChat } from '../support/door.ts'
import type { SendOptions } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { holdEvent } from '../support/provider/script.ts'
import { openProviderFixture, PROVIDERS } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({
  config: { server: { ping_interval: '100ms', body_limit: '64KB' }, providers: { tries: 2 } },
})
test.after.always(() => fixture.close())

const never = new Promise<void>(() => {})
const nobody = (scenario: ReturnType<typeof fixture.scenario>) => PROVIDERS.flatMap((name) => scenario.seen(name))
const claude = (extra: JsonObject = {}) => chat('hi', { model: 'claude-sonnet-4-5', ...extra })

test('chat route: without a credential it answers 401, in the shape of both SDKs', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('hi'), { headers: { authorization: undefined } })
  t.is(reply.status, 401)
  t.like(reply.json, {
    type: 'error',
    error: { type: 'authentication_error', code: 'authentication_error', param: null },
    request_id: reply.headers['request-id'],
  })
  t.is(typeof valueAt(reply.json, 'error.message'), 'string')
  t.deepEqual(nobody(scenario), [])
})

const invalid: [claim: string, body: SendOptions['body'], param: string | null][] = [
  ['no model', { messages: [{ role: 'user', content: 'hi' }] }, 'model'],
  ['a model that is a number', chat('hi', { model: 5 }), 'model'],
  ['an empty model', chat('hi', { model: '' }), 'model'],
  ['no messages', chat('hi', { messages: undefined }), 'messages'],
  ['empty messages', chat('hi', { messages: [] }), 'messages'],
  ['messages that are text', chat('hi', { messages: 'hi' }), 'messages'],
  ['stream as text', chat('hi', { stream: 'yes' }), 'stream'],
  ['stream_options that are a number', chat('hi', { stream_options: 5 }), 'stream_options'],
  [
    'include_usage as text',
    chat('hi', { stream: true, stream_options: { include_usage: 'yes' } }),
    'stream_options.include_usage',
  ],
  ['a field that appears twice', '{"model":"gpt-4o","messages":[{}],"model":"gpt-4o"}', 'model'],
  ['a blank model', chat('hi', { model: ' \t' }), 'model'],
  ['a count of answers as text', chat('hi', { n: '200' }), 'n'],
  ['a fraction of answers', chat('hi', { n: 1.5 }), 'n'],
  ['a limit as text', chat('hi', { max_tokens: '200' }), 'max_tokens'],
  ['an infinite limit', '{"model":"gpt-4o","messages":[{}],"max_completion_tokens":1e400}', 'max_completion_tokens'],
  ['two limits', chat('hi', { max_tokens: 100_000, max_completion_tokens: 100 }), 'max_tokens'],
  ['a field in another case', '{"model":"gpt-4o","messages":[{}],"MAX_TOKENS":5}', null],
  ['no JSON', '{"model":', null],
  ['an array', '[]', null],
  ['a temperature over 2, towards a translation', claude({ temperature: 5 }), 'temperature'],
  [
    'a role that is none, towards a translation',
    claude({ messages: [{ role: 'x', content: 'hi' }] }),
    'messages[0].role',
  ],
  ['a limit of 0, towards a translation', claude({ max_completion_tokens: 0 }), 'max_completion_tokens'],
  [
    'a part without its text, towards a translation',
    claude({ messages: [{ role: 'user', content: [{ type: 'text' }] }] }),
    'messages[0].content[0].text',
  ],
]
for (const [claim, body, param] of invalid) {
  test(`chat route: ${claim} is answered 400, and \`param\` names it`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await sendChat(scenario, body ?? '')
    t.is(reply.status, 400, reply.text)
    t.like(reply.json, { type: 'error', error: { type: 'invalid_request', code: 'invalid_request', param } })
    t.deepEqual(nobody(scenario), [])
  })
}

test('chat route: an unknown plugin is answered 400 and named', async (t) => {
  const reply = await sendChat(fixture.scenario(), chat('hi'), { headers: { 'x-svc-pipe': 'exact-cash' } })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /exact-cash.*exact-cache/)
  t.is(valueAt(reply.json, 'error.code'), 'invalid_request')
})

test('chat route: a content type that is not JSON is answered 415', async (t) => {
  const reply = await sendChat(fixture.scenario(), chat('hi'), { headers: { 'content-type': 'text/plain' } })
  t.is(reply.status, 415)
  t.like(reply.json, { error: { code: 'unsupported_media_type', param: null } })
})

test('chat route: a body over the limit is answered 413', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('x'.repeat(70_000)))
  t.is(reply.status, 413)
  t.is(valueAt(reply.json, 'error.code'), 'request_too_large')
  t.deepEqual(nobody(scenario), [])
})

test('chat route: GET is answered 405 with the allowed methods', async (t) => {
  const reply = await fixture.scenario().send({ method: 'GET', path: ROUTES.chat })
  t.is(reply.status, 405)
  t.is(reply.headers.allow, 'POST')
  t.is(valueAt(reply.json, 'type'), 'error')
})

for (const model of ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash']) {
  test(`chat route: a provider that fails after all tries is answered 502, in chat's shape (${model})`, async (t) => {
    const failure = { kind: 'error', status: 500 } as const
    const scenario = fixture.scenario({ openai: failure, anthropic: failure, gemini: failure })
    const reply = await sendChat(scenario, chat('hi', { model }))
    t.is(reply.status, 502)
    t.like(reply.json, { type: 'error', error: { type: 'upstream_error', code: 'upstream_error', param: null } })
    t.regex(String(valueAt(reply.json, 'error.message')), /failed after 2 tries: answered 500/)
    t.is(nobody(scenario).length, 2)
  })

  test(`chat route: a stream that breaks off ends with an error chunk, and without an end mark (${model})`, async (t) => {
    const cut = { kind: 'answer', text: 'some words that are cut off here', cutAfterBytes: 900 } as const
    const scenario = fixture.scenario({ openai: cut, anthropic: cut, gemini: cut })
    const reply = await sendChat(scenario, streamed(chat('hi', { model })))
    t.is(reply.status, 200)
    t.true(reply.endedCleanly)
    const chunks = parseChatChunks(reply.body)
    t.false(chunks.includes('[DONE]'))
    t.like(chunks.at(-1), { error: { type: 'api_error', code: null, param: null } })
    t.regex(String(valueAt(chunks.at(-1), 'error.message')), /broke off/)
    t.true(chunks.length > 1)
    t.true(chunks.slice(0, -1).every((chunk) => !('error' in Object(chunk))))
  })

  test(`chat route: a silence is broken by comments, and the stream is whole without them (${model})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const held = {
      kind: 'answer',
      text: 'one two three four five six seven eight',
      writes: holdEvent(2, gate.promise),
    } as const
    const scenario = fixture.scenario({ openai: held, anthropic: held, gemini: held })
    let text = ''
    const onChunk = (chunk: Buffer) => {
      text += chunk
      if (/(: ping\n\n){3}$/.test(text)) gate.resolve()
    }
    const reply = await sendChat(scenario, streamed(chat('hi', { model })), { onChunk })
    t.true(text.split(': ping\n\n').length > 3)
    t.is(parseChatChunks(reply.body).at(-1), '[DONE]')
    t.notRegex(text.replaceAll(': ping\n\n', ''), /ping/)
  })

  test(`chat route: a client that leaves ends the provider's call (${model})`, async (t) => {
    const held = {
      kind: 'answer',
      text: 'one two three four five six seven eight',
      writes: holdEvent(2, never),
    } as const
    const scenario = fixture.scenario({ openai: held, anthropic: held, gemini: held })
    const leaving = new AbortController()
    const onChunk = (chunk: Buffer) => {
      if (!chunk.toString().startsWith(':')) leaving.abort()
    }
    await sendChat(scenario, streamed(chat('hi', { model })), { onChunk, signal: leaving.signal })
    t.is(await nobody(scenario)[0]?.closed, 'client-left')
    t.is(nobody(scenario).length, 1)
  })

  test(`chat route: a reply names its provider, pipeline and id (${model})`, async (t) => {
    for (const stream of [false, true]) {
      const reply = await sendChat(fixture.scenario(), chat('hi', { model, stream }), {
        headers: { 'x-svc-pipe': 'exact-cache' },
      })
      t.is(reply.status, 200, reply.text)
      t.regex(String(reply.headers['x-svc-model']), new RegExp(`^[a-z]+/${model}$`))
      t.is(reply.headers['x-svc-pipe'], 'exact-cache')
      t.regex(String(reply.headers['request-id']), /^req_/)
      t.regex(String(reply.headers['content-type']), stream ? /^text\/event-stream/ : /^application\/json/)
    }
  })
}

test('chat route: the query does not reach a provider of another dialect', async (t) => {
  const scenario = fixture.scenario()
  await sendChat(scenario, claude(), { path: `${ROUTES.chat}?api-version=1` })
  t.is(scenario.seen('anthropic')[0]?.url, '/v1/messages')
})

const refused: [claim: string, body: JsonObject, names: RegExp][] = [
  ['n: 2', claude({ n: 2 }), /\bn: /],
  ['logprobs', claude({ logprobs: true }), /logprobs: /],
  [
    'audio',
    conversation([{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }], {
      model: 'claude-sonnet-4-5',
    }),
    /messages\[0\]\.content\[0\]/,
  ],
]
for (const [claim, body, names] of refused) {
  test(`chat route: ${claim} is refused towards a provider that cannot be sent it, and named`, async (t) => {
    const scenario = fixture.scenario()
    const reply = await sendChat(scenario, body)
    t.is(reply.status, 400)
    t.like(reply.json, { type: 'error', error: { type: 'invalid_request' } })
    t.regex(String(valueAt(reply.json, 'error.message')), names)
    t.deepEqual(nobody(scenario), [])
  })

  test(`chat route: ${claim} is sent to a provider of the same dialect`, async (t) => {
    const scenario = fixture.scenario()
    t.is((await sendChat(scenario, { ...body, model: 'house/qwen3' })).status, 200)
    t.is(scenario.seen('house').length, 1)
  })
}
