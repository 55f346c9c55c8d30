import test from 'ava'
import { parseEvents } from './events.ts'
import { call, signatureOf, thought } from './gemini/script.ts'
import { send } from './http-client.ts'
import { type JsonObject, valueAt } from './json.ts'
import { holdEvent } from './provider/script.ts'
import { type Gemini, type GeminiOptions, startGemini } from './stand-in-gemini.ts'

const KEY = { 'x-goog-api-key': 'k' }
const GENERATE = '/v1beta/models/gemini-2.5-flash:generateContent'
const STREAM = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'
const NEWER = '/v1beta/models/gemini-3-pro-preview:generateContent'

const user = (...parts: JsonObject[]) => ({ role: 'user', parts })
const model = (...parts: JsonObject[]) => ({ role: 'model', parts })
const text = (words: string) => ({ text: words })
const response = (name: string, more: JsonObject = {}) => ({
  functionResponse: { name, response: { result: 1 }, ...more },
})
const ask = (words: string, more: JsonObject = {}) => ({ contents: [user(text(words))], ...more })

const post = (gemini: Gemini, body: string | JsonObject, path = GENERATE) =>
  send(gemini.url, { path, headers: KEY, body })

/** Returns the status and message of a fresh stand-in's reply. */
async function answerTo(body: JsonObject, path = GENERATE, options: GeminiOptions = {}): Promise<[number, string]> {
  await using gemini = await startGemini(options)
  const reply = await post(gemini, body, path)
  return [reply.status, String(valueAt(reply.json, 'error.message') ?? '')]
}

test('stand-in gemini: answers with the last user text and counts', async (t) => {
  await using gemini = await startGemini()
  const reply = await post(gemini, ask('hello there'))
  t.is(reply.status, 200, reply.text)
  t.is(valueAt(reply.json, 'candidates.0.content.parts.0.text'), 'You said: hello there')
  t.is(valueAt(reply.json, 'candidates.0.finishReason'), 'STOP')
  t.true(Number(valueAt(reply.json, 'usageMetadata.promptTokenCount')) > 0)
})

test('stand-in gemini: streams the same text in chunks, the reason with the last', async (t) => {
  await using gemini = await startGemini()
  const pieces = parseEvents((await post(gemini, ask('one two three'), STREAM)).body).map(({ data }) => data)
  t.true(pieces.length > 1)
  t.is(pieces.map((piece) => valueAt(piece, 'candidates.0.content.parts.0.text')).join(''), 'You said: one two three')
  t.deepEqual(
    pieces.map((piece) => valueAt(piece, 'candidates.0.finishReason')).filter((reason) => reason !== undefined),
    ['STOP'],
  )
})

test('stand-in gemini: names the media it has received', async (t) => {
  await using gemini = await startGemini()
  const body = { contents: [user(text('see'), { inlineData: { mimeType: 'image/png', data: 'aGk=' } })] }
  t.true((await post(gemini, body)).text.includes('I see: image/png'))
})

test('stand-in gemini: plays thoughts, calls and usage as scripted', async (t) => {
  const parts = [thought('hm'), call('f', { a: 1 }), call('g')]
  const usage = { cachedContentTokenCount: 3, thoughtsTokenCount: 5 }
  await using gemini = await startGemini({ script: { kind: 'answer', parts, usage } })
  const reply = await post(gemini, ask('go'))
  t.deepEqual(valueAt(reply.json, 'candidates.0.content.parts'), parts)
  t.like(valueAt(reply.json, 'usageMetadata'), usage)
})

test('stand-in gemini: models of generation 3 sign the first call', async (t) => {
  await using gemini = await startGemini({ script: { kind: 'answer', parts: [call('f'), call('g')] } })
  const reply = await post(gemini, ask('go'), NEWER)
  t.deepEqual(
    [0, 1].map((index) => valueAt(reply.json, `candidates.0.content.parts.${index}.thoughtSignature`)),
    [signatureOf(1), undefined],
  )
})

test('stand-in gemini: stops at maxOutputTokens words', async (t) => {
  await using gemini = await startGemini()
  const reply = await post(gemini, ask('one two', { generationConfig: { maxOutputTokens: 3 } }))
  t.is(valueAt(reply.json, 'candidates.0.finishReason'), 'MAX_TOKENS')
})

test('stand-in gemini: counts tokens of either body', async (t) => {
  await using gemini = await startGemini()
  const path = '/v1beta/models/gemini-2.5-flash:countTokens'
  const whole = { generateContentRequest: { model: 'models/gemini-2.5-flash', ...ask('hello there') } }
  for (const body of [ask('hello there'), whole]) {
    t.true(Number(valueAt((await post(gemini, body, path)).json, 'totalTokens')) > 0)
  }
})

test('stand-in gemini: lists models page by page and shows one', async (t) => {
  await using gemini = await startGemini({ models: ['gemini-a', 'gemini-b', 'gemini-c'] })
  const get = (path: string) => send(gemini.url, { method: 'GET', path, headers: KEY })
  const first = await get('/v1beta/models?pageSize=2')
  t.is(valueAt(first.json, 'models.1.name'), 'models/gemini-b')
  const second = await get(`/v1beta/models?pageSize=2&pageToken=${valueAt(first.json, 'nextPageToken')}`)
  t.is(valueAt(second.json, 'models.0.name'), 'models/gemini-c')
  t.is(valueAt(second.json, 'nextPageToken'), undefined)
  t.is(valueAt((await get('/v1beta/models/gemini-a')).json, 'name'), 'models/gemini-a')
  t.is((await get('/v1beta/models/gemini-x')).status, 404)
})

test('stand-in gemini: a key that is missing or wrong is refused in Google’s shape', async (t) => {
  await using gemini = await startGemini({ apiKey: 'right' })
  const none = await send(gemini.url, { path: GENERATE, body: ask('hi') })
  t.like(none.json, { error: { code: 403, status: 'PERMISSION_DENIED' } })
  const wrong = await post(gemini, ask('hi'))
  t.like(wrong.json, { error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } })
})

test('stand-in gemini: unknown fields are refused with their place', async (t) => {
  const [status, top] = await answerTo(ask('hi', { foo: 1 }))
  t.deepEqual([status, top], [400, 'Invalid JSON payload received. Unknown name "foo": Cannot find field.'])
  const [, deep] = await answerTo({ contents: [user({ ...text('hi'), cache_control: {} })] })
  t.is(
    deep,
    `Invalid JSON payload received. Unknown name "cache_control" at 'contents[0].parts[0]': Cannot find field.`,
  )
})

test('stand-in gemini: values of the wrong kind are refused', async (t) => {
  const wrong: JsonObject[] = [
    { toolConfig: { functionCallingConfig: { mode: 'any' } } },
    { generationConfig: { maxOutputTokens: '9' } },
    { generationConfig: { thinkingConfig: { thinkingLevel: 'EXTREME' } } },
    { contents: [user({ inlineData: { mimeType: 'image/png', data: 'not base64!' } })] },
    { contents: 'hi' },
  ]
  for (const fields of wrong) {
    const [status, message] = await answerTo({ ...ask('hi'), ...fields })
    t.is(status, 400)
    t.regex(message, /^Invalid value at '/)
  }
})

test('stand-in gemini: settings that the model does not take are refused', async (t) => {
  const thinking = (thinkingConfig: JsonObject) => ask('hi', { generationConfig: { thinkingConfig } })
  const cases: [JsonObject, string][] = [
    [thinking({ thinkingLevel: 'LOW' }), GENERATE],
    [thinking({ thinkingBudget: 99_999 }), GENERATE],
    [thinking({ thinkingBudget: 10, thinkingLevel: 'LOW' }), NEWER],
    [thinking({ thinkingLevel: 'MEDIUM' }), NEWER],
    [thinking({ thinkingBudget: 0 }), NEWER],
    [thinking({ includeThoughts: true }), '/v1beta/models/gemini-2.0-flash:generateContent'],
    [ask('hi', { generationConfig: { stopSequences: ['1', '2', '3', '4', '5', '6'] } }), GENERATE],
    [ask('hi', { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }), GENERATE],
    [ask('hi', { tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] }), GENERATE],
    [ask('hi', { tools: [{ functionDeclarations: [{ name: '1f' }] }] }), GENERATE],
  ]
  for (const [body, path] of cases) t.is((await answerTo(body, path))[0], 400, JSON.stringify(body))
})

test('stand-in gemini: conversations out of order are refused', async (t) => {
  const cases: [RegExp, JsonObject[]][] = [
    [/contents is not specified/, []],
    [/parts must not be empty/, [user()]],
    [/oneof field 'data'/, [user(text(''))]],
    [/oneof field 'data'/, [user({ thought: true })]],
    [/valid role/, [{ role: 'assistant', parts: [text('a')] }]],
    [/start with a user turn/, [model(text('a'))]],
    [
      /function call turn comes immediately after/,
      [user(text('a')), model(text('b')), model(call('f')), user(response('f'))],
    ],
    [/function response turn comes immediately after/, [user(text('a')), model(text('b')), user(response('f'))]],
    [/number of function response parts/, [user(text('a')), model(call('f'), call('g')), user(response('f'))]],
    [/number of function response parts/, [user(text('a')), model(call('f')), user(text('b'))]],
    [/No function call matches/, [user(text('a')), model(call('f')), user(response('g'))]],
  ]
  for (const [expected, contents] of cases) {
    const [status, message] = await answerTo({ contents })
    t.is(status, 400)
    t.regex(message, expected)
  }
})

test('stand-in gemini: generation 3 requires the signature of the first call of each step of this turn', async (t) => {
  const signed = (name: string) => call(name, {}, { thoughtSignature: signatureOf(1) })
  const past = [user(text('a')), model(call('old')), user(response('old')), model(text('done'))]
  const now = (...calls: JsonObject[]) => [
    ...past,
    user(text('b')),
    model(...calls),
    user(response('f'), response('g')),
  ]
  t.is((await answerTo({ contents: now(signed('f'), call('g')) }, NEWER))[0], 200)
  const [status, message] = await answerTo({ contents: now(call('f'), signed('g')) }, NEWER)
  t.is(status, 400)
  t.regex(message, /missing a thought_signature .*`default_api:f` , position 6/)
  const forged = call('f', {}, { thoughtSignature: 'Zm9yZ2Vk' })
  t.is((await answerTo({ contents: now(forged, call('g')) }, NEWER))[1], 'Corrupted thought signature.')
  t.is((await answerTo({ contents: now(call('f'), call('g')) }))[0], 200)
})

test('stand-in gemini: errors are played in Google’s shape', async (t) => {
  await using gemini = await startGemini({ script: { kind: 'error', status: 503, message: 'overloaded' } })
  const reply = await post(gemini, ask('hi'), STREAM)
  t.is(reply.status, 503)
  t.deepEqual(reply.json, { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })
})

test('stand-in gemini: a stream can be held between events and cut', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using gemini = await startGemini({
    script: { kind: 'answer', writes: holdEvent(1, promise), cutAfterBytes: 600 },
  })
  let bytes = 0
  const reply = send(gemini.url, {
    path: STREAM,
    headers: KEY,
    body: ask('one two three four'),
    onChunk: (chunk) => {
      bytes += chunk.length
      resolve()
    },
  })
  const { endedCleanly, chunks } = await reply
  t.false(endedCleanly)
  t.true(chunks.length > 1 && bytes <= 600)
  t.is(await gemini.seen[0]?.closed, 'cut')
})

test('stand-in gemini: a hanging request ends when the client disconnects', async (t) => {
  await using gemini = await startGemini({ script: { kind: 'hang', at: 'before-headers' } })
  const leaving = new AbortController()
  const reply = send(gemini.url, { path: GENERATE, headers: KEY, body: ask('hi'), signal: leaving.signal })
  await gemini.until(() => gemini.pending() === 1 && gemini.seen.length === 1)
  leaving.abort()
  await reply
  t.is(await gemini.seen[0]?.closed, 'client-left')
})

test('stand-in gemini: scripts are called only for valid requests, and anew after reply()', async (t) => {
  await using gemini = await startGemini({ script: (_, nth) => ({ kind: 'answer', text: `answer ${nth}` }) })
  await post(gemini, ask('hi', { foo: 1 }))
  t.true((await post(gemini, ask('hi'))).text.includes('answer 1'))
  gemini.reply({ kind: 'reply', body: 'raw' })
  t.is((await post(gemini, ask('hi'))).text, 'raw')
  t.deepEqual(
    gemini.seen.map(({ refused }) => refused?.type),
    ['INVALID_ARGUMENT', undefined, undefined],
  )
})
