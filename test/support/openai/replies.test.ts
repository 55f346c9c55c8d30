import test from 'ava'
import {
  chat,
  chatWithJsonSchema,
  chatWithReasoning,
  chatWithToolHistory,
  chatWithTools,
  streamed,
  streamedWithUsage,
} from '../chat-bodies.ts'
import { parseEvents } from '../events.ts'
import { send } from '../http-client.ts'
import { type JsonObject, valueAt } from '../json.ts'
import { type OpenAIOptions, startOpenAI } from '../stand-in-openai.ts'
import { loadChats, toScript } from './recorded-chats.ts'
import type { ScriptedCall } from './script.ts'
import { toShape } from './shape.ts'

const path = '/v1/chat/completions'
const calls: ScriptedCall[] = [
  { id: 'call_a', name: 'get_weather', arguments: '{"city": "Wien 🙂", "n": 9007199254740993}' },
  { id: 'call_b', name: 'get_time', arguments: '{"10":1.0,\n"2":2}' },
]

async function post(body: JsonObject, options: OpenAIOptions = {}) {
  await using server = await startOpenAI(options)
  return await send(server.url, { path, body }) // the server closes when this function returns
}

async function stream(body: JsonObject, options: OpenAIOptions = {}): Promise<JsonObject[]> {
  const reply = await post(body, options)
  if (reply.status !== 200) throw new Error(`Expected a stream, got ${reply.status}: ${reply.text}`)
  return parseEvents(reply.body).flatMap(({ data }) => (data === undefined ? [] : [data as JsonObject])) // safe: every chunk is an object
}

const deltasOf = (chunks: readonly JsonObject[]) => chunks.map((chunk) => valueAt(chunk, 'choices.0.delta'))
const joined = (chunks: readonly JsonObject[], at: string) =>
  deltasOf(chunks)
    .map((delta) => valueAt(delta, at) ?? '')
    .join('')
const argumentsOf = (chunks: readonly JsonObject[], index: number) =>
  deltasOf(chunks)
    .filter((delta) => valueAt(delta, 'tool_calls.0.index') === index)
    .map((delta) => valueAt(delta, 'tool_calls.0.function.arguments'))

test('chat stand-in: its replies have the shapes of the recorded ones', async (t) => {
  const { items, absent } = loadChats()
  if (absent) t.log(absent)
  await using server = await startOpenAI()
  for (const recorded of items.filter(({ status }) => status === 200)) {
    server.reply(toScript(recorded))
    const { status, text, json } = await send(server.url, { path, body: recorded.body })
    t.is(status, 200, `${recorded.name}: ${text}`)
    if (recorded.reply) t.is(toShape(json), toShape(recorded.reply), recorded.name)
    if (!recorded.chunks) continue
    const chunks = parseEvents(text).flatMap(({ data }) => (data === undefined ? [] : [data]))
    t.is(toShape(chunks), toShape(recorded.chunks), recorded.name)
    t.true(text.endsWith('data: [DONE]\n\n'))
  }
  t.pass()
})

test('chat stand-in: refuses with the message of the recorded refusal', async (t) => {
  const { items, absent } = loadChats()
  if (absent) t.log(absent)
  for (const { name, body, reply } of items.filter(({ status }) => status === 400)) {
    t.deepEqual((await post(body)).json, reply, name)
  }
  t.pass()
})

test('chat stand-in: answers with the last user text, a dated model and the words as tokens', async (t) => {
  const { json } = await post(chat('hello there'))
  t.like(json, { object: 'chat.completion', model: 'gpt-4o-mini-2025-08-07' })
  const message = { role: 'assistant', content: 'You said: hello there', refusal: null, annotations: [] }
  t.like(valueAt(json, 'choices.0'), { index: 0, message, logprobs: null, finish_reason: 'stop' })
  t.like(valueAt(json, 'usage'), { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
})

test('chat stand-in: finishes with length at the token limit', async (t) => {
  const { json } = await post(chat('one two three', { max_completion_tokens: 3 }))
  t.like(valueAt(json, 'choices.0'), { message: { content: 'You said: one' }, finish_reason: 'length' })
})

test('chat stand-in: streams the text of its JSON reply', async (t) => {
  const chunks = await stream(streamed(chat('  hello\n\n there ')))
  t.is(joined(chunks, 'content'), 'You said:   hello\n\n there ')
  t.deepEqual(deltasOf(chunks)[0], { role: 'assistant', content: '', refusal: null })
  t.deepEqual(chunks.at(-1)?.choices, [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }])
})

test('chat stand-in: streams usage only when requested, then as null until the last chunk', async (t) => {
  t.true((await stream(streamed(chat('hi')))).every((chunk) => !('usage' in chunk)))
  const chunks = await stream(streamedWithUsage(chat('hi')))
  t.true(chunks.slice(0, -1).every((chunk) => chunk.usage === null))
  t.like(chunks.at(-1), { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } })
})

test('chat stand-in: pads chunks by default', async (t) => {
  const options = { stream: true, stream_options: { include_obfuscation: false } }
  t.true((await stream(streamed(chat('hi')))).every(({ obfuscation }) => typeof obfuscation === 'string'))
  t.true((await stream(chat('hi', options))).every((chunk) => !('obfuscation' in chunk)))
})

test('chat stand-in: keeps the text of scripted arguments, whole and streamed', async (t) => {
  const options: OpenAIOptions = { script: { kind: 'answer', toolCalls: calls } }
  const { json } = await post(chatWithTools(), options)
  t.like(valueAt(json, 'choices.0'), { message: { content: null }, finish_reason: 'tool_calls' })
  const chunks = await stream(streamed(chatWithTools()), options)
  for (const [index, call] of calls.entries()) {
    t.is(valueAt(json, `choices.0.message.tool_calls.${index}.function.arguments`), call.arguments)
    t.is(argumentsOf(chunks, index).join(''), call.arguments)
    t.true(argumentsOf(chunks, index).length > 3)
  }
})

const order = (chunks: readonly JsonObject[]) =>
  deltasOf(chunks).flatMap((delta) => valueAt(delta, 'tool_calls.0.index') ?? [])

test('chat stand-in: streams parallel calls one after the other', async (t) => {
  const indexes = order(await stream(streamed(chatWithTools()), { script: { kind: 'answer', toolCalls: calls } }))
  t.deepEqual(indexes, indexes.toSorted())
})

test('chat stand-in: interleaves parallel calls with its option', async (t) => {
  const script = { kind: 'answer', toolCalls: calls, interleaved: true } as const
  const chunks = await stream(streamed(chatWithTools()), { script })
  t.deepEqual(order(chunks).slice(0, 6), [0, 1, 0, 1, 0, 1])
  t.is(argumentsOf(chunks, 1).join(''), String(calls[1]?.arguments))
})

test('chat stand-in: begins a single call within its first chunk, and one after text in its own', async (t) => {
  const toolCalls = calls.slice(0, 1)
  const silent = await stream(streamed(chatWithTools()), { script: { kind: 'answer', toolCalls } })
  t.like(deltasOf(silent)[0], { role: 'assistant', content: null, tool_calls: [{ id: 'call_a' }] })
  const spoken = await stream(streamed(chatWithTools()), { script: { kind: 'answer', toolCalls, text: 'Let me see.' } })
  t.deepEqual(deltasOf(spoken)[0], { role: 'assistant', content: '', refusal: null })
  t.is(joined(spoken, 'content'), 'Let me see.')
  t.is(argumentsOf(spoken, 0).join(''), String(calls[0]?.arguments))
})

test('chat stand-in: calls the tool that a request forces', async (t) => {
  const choice = { type: 'function', function: { name: 'get_time' } }
  const forced = await post(chatWithTools({ tool_choice: choice }))
  t.is(valueAt(forced.json, 'choices.0.message.tool_calls.0.function.name'), 'get_time')
  t.is(valueAt(forced.json, 'choices.0.finish_reason'), 'stop')
  const required = await post(chatWithToolHistory({ tool_choice: 'required' }))
  t.is(valueAt(required.json, 'choices.0.finish_reason'), 'tool_calls')
})

test('chat stand-in: answers a JSON format with JSON', async (t) => {
  t.is(valueAt((await post(chatWithJsonSchema())).json, 'choices.0.message.content'), '{}')
})

test('chat stand-in: refuses in the refusal member, whole and streamed', async (t) => {
  const options: OpenAIOptions = { script: { kind: 'answer', refusal: 'I will not do that.' } }
  const { json } = await post(chat('hi'), options)
  t.like(valueAt(json, 'choices.0.message'), { content: null, refusal: 'I will not do that.' })
  t.is(joined(await stream(streamed(chat('hi')), options), 'refusal'), 'I will not do that.')
})

test('chat stand-in: carries scripted annotations, finish reason and usage', async (t) => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }]
  const usage = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 90 } }
  const options: OpenAIOptions = {
    script: { kind: 'answer', text: 'x', annotations, usage, finishReason: 'content_filter' },
  }
  const { json } = await post(chat('hi'), options)
  t.like(json, { usage: { ...usage, completion_tokens: 1, total_tokens: 101 } })
  t.like(valueAt(json, 'choices.0'), { message: { annotations }, finish_reason: 'content_filter' })
  const chunks = await stream(streamed(chat('hi')), options)
  t.deepEqual(deltasOf(chunks).at(-2), { annotations })
})

test('chat stand-in: returns the requested number of choices', async (t) => {
  const { json } = await post(chat('hi', { n: 2 }))
  t.is(valueAt(json, 'choices.1.index'), 1)
  const indexes = (await stream(streamed(chat('hi', { n: 2 })))).map((chunk) => valueAt(chunk, 'choices.0.index'))
  t.deepEqual(new Set(indexes), new Set([0, 1]))
})

test('chat stand-in: a reasoning model has no logprobs in its choices', async (t) => {
  const { json } = await post(chatWithReasoning())
  t.is(valueAt(json, 'choices.0.logprobs'), undefined)
  t.is(valueAt(json, 'choices.0.message.content'), 'You said: Is 2047 prime?')
})

for (const field of ['reasoning_content', 'reasoning'] as const) {
  test(`chat stand-in: a compatible server reasons in ${field}, whole and streamed`, async (t) => {
    const script = { kind: 'answer', reasoning: 'Let me see.', reasoningField: field, text: 'No.' } as const
    const options: OpenAIOptions = { flavour: 'compatible', script }
    const { json } = await post(chat('hi'), options)
    t.like(json, { model: 'gpt-4o-mini', prompt_logprobs: null })
    t.like(valueAt(json, 'choices.0'), { message: { content: 'No.', [field]: 'Let me see.', tool_calls: [] } })
    const chunks = await stream(streamedWithUsage(chat('hi')), options)
    t.is(joined(chunks, field), 'Let me see.')
    t.is(joined(chunks, 'content'), 'No.')
    t.true(chunks.slice(0, -1).every((chunk) => !('usage' in chunk) && !('obfuscation' in chunk)))
    t.like(chunks.at(-1), { choices: [], usage: { completion_tokens: 4 } })
  })
}

test('chat stand-in: ends a stream without its end mark with its option', async (t) => {
  const { text } = await post(streamed(chat('hi')), { flavour: 'compatible', done: false })
  t.false(text.includes('[DONE]'))
  t.true(text.endsWith('\n\n'))
})
