import test from 'ava'
import fc from 'fast-check'
import { assembleMessage, assertMessageStream, parseEvents } from '../../../test/support/events.ts'
import { toPieces } from '../../../test/support/gemini/answers.ts'
import { toSse } from '../../../test/support/gemini/payload.ts'
import { call, signatureOf, thought } from '../../../test/support/gemini/script.ts'
import type { JsonObject } from '../../../test/support/json.ts'
import { scanEvents } from '../../core/reply/sse.ts'
import { createMessagesEvents } from './stream.ts'

const IDENTITY = { model: 'gemini-3-pro', id: 'msg_1' }
const CONTEXT = {
  body: { contents: [{ role: 'user', parts: [{ text: 'hello there, you' }] }] },
  model: 'gemini-3-pro',
  nth: 1,
}

/** Translates a source's events; returns the events and the translator's state. */
function translate(...sources: (JsonObject | string)[]) {
  const translator = createMessagesEvents(IDENTITY)
  const bytes = toSse(sources.map((source) => (typeof source === 'string' ? {} : source)))
  let text = ''
  let index = 0
  scanEvents(bytes, (name, source, start, end) => {
    const given = sources[index++]
    text += translator.event(name, typeof given === 'string' ? given : source.toString('utf8', start, end))
  })
  text += translator.end()
  return { text, translator }
}

const piece = (parts: JsonObject[], more: JsonObject = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
})
const STOP = { finishReason: 'STOP' }

test('gemini stream: a text answer becomes one text block', (t) => {
  const { text, translator } = translate(...toPieces({ ...CONTEXT, model: 'gemini-2.5-flash' }))
  const message = assembleMessage(assertMessageStream(text))
  t.deepEqual(message.content, [{ type: 'text', text: 'You said: hello there, you' }])
  t.like(message, { model: 'gemini-3-pro', id: 'standIn000000000000001', stop_reason: 'end_turn' })
  t.true(translator.isComplete)
  t.false(translator.hasFailed)
})

test('gemini stream: text is emitted as it arrives', (t) => {
  const translator = createMessagesEvents(IDENTITY)
  const names = (data: JsonObject) =>
    parseEvents(translator.event('message', JSON.stringify(data))).map(({ event }) => event)
  t.deepEqual(names(piece([{ text: 'a' }])), ['message_start', 'content_block_start', 'content_block_delta'])
  t.deepEqual(names(piece([{ text: 'b' }])), ['content_block_delta'])
})

test('gemini stream: thinking, texts and calls become blocks in their order', (t) => {
  const parts = [
    thought('let me '),
    thought('see'),
    { text: 'I call' },
    call('f', { a: 1 }),
    call('g'),
    { text: 'done' },
  ]
  const { text } = translate(...toPieces({ ...CONTEXT, model: 'gemini-2.5-flash' }, { parts }))
  const message = assembleMessage(assertMessageStream(text))
  t.deepEqual(message.content, [
    { type: 'thinking', thinking: 'let me see', signature: '' },
    { type: 'text', text: 'I call' },
    { type: 'tool_use', id: 'toolu_msg_1_0', name: 'f', input: { a: 1 } },
    { type: 'tool_use', id: 'toolu_msg_1_1', name: 'g', input: {} },
    { type: 'text', text: 'done' },
  ])
  t.is(message.stop_reason, 'tool_use')
})

test('gemini stream: arguments keep their exact text', (t) => {
  const args = '{"n":1.0,"big":9007199254740993,"10":"\\u00e9","2":"漢"}'
  const { text } = translate(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]}}]}`)
  const delta = parseEvents(text).find(({ text: data }) => data.includes('partial_json'))?.data
  t.like(delta, { delta: { partial_json: args } })
})

test('gemini stream: the provider’s own call ids are kept, each for one call', (t) => {
  const parts = ['call-1', 'call-1', 'odd id', '', undefined].map((id) => ({ functionCall: { id, name: 'f' } }))
  const { content } = assembleMessage(parseEvents(translate(piece(parts, STOP)).text))
  t.deepEqual(
    (content as { id: string }[]).map(({ id }) => id),
    ['call-1', 'toolu_msg_1_1', 'toolu_msg_1_2', 'toolu_msg_1_3', 'toolu_msg_1_4'],
  )
})

test('gemini stream: an id is never longer than the 40 characters that OpenAI takes back', (t) => {
  const calls = Array.from({ length: 12 }, (_, index) => ({ functionCall: { name: 'f', id: 'x'.repeat(39 + index) } }))
  const stream = createMessagesEvents({ model: 'm', id: `msg_${'0123456789abcdef'.repeat(2)}` })
  const text = stream.event('message', JSON.stringify({ candidates: [{ content: { parts: calls } }] }))
  const ids = [...text.matchAll(/"id":"([^"]+)","name"/g)].map(([, id]) => id ?? '')
  t.is(new Set(ids).size, 12)
  t.true(
    ids.every((id) => id.length <= 40),
    ids.join(),
  )
})

test('gemini stream: the signature of a call is on the thinking before it', (t) => {
  const parts = [thought('hm'), call('f', {}, { thoughtSignature: 'c2ln' }), call('g')]
  const { content } = assembleMessage(assertMessageStream(translate(piece(parts, STOP)).text))
  t.like(content, [{ type: 'thinking', thinking: 'hm', signature: 'gemini:c2ln' }, { name: 'f' }, { name: 'g' }])
})

test('gemini stream: the signature of a call without thinking has a block of its own', (t) => {
  const parts = [{ text: 'so' }, call('f', {}, { thoughtSignature: 'c2ln' })]
  const { content } = assembleMessage(assertMessageStream(translate(piece(parts, STOP)).text))
  t.like(content, [{ text: 'so' }, { type: 'thinking', thinking: '', signature: 'gemini:c2ln' }, { name: 'f' }])
})

test('gemini stream: the signature that ends a text follows it', (t) => {
  const { text } = translate(...toPieces(CONTEXT))
  const { content } = assembleMessage(assertMessageStream(text))
  t.deepEqual(content, [
    { type: 'text', text: 'You said: hello there, you' },
    { type: 'thinking', thinking: '', signature: `gemini-text:${signatureOf(1)}` },
  ])
})

test('gemini stream: usage of the last piece counts, and later pieces complete earlier ones', (t) => {
  const { text, translator } = translate(
    {
      ...piece([{ text: 'a' }]),
      usageMetadata: { promptTokenCount: 10, cachedContentTokenCount: 4, totalTokenCount: 10 },
    },
    {
      ...piece([{ text: 'b' }], STOP),
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 5 },
    },
  )
  const usage = { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 7 }
  t.deepEqual(assembleMessage(assertMessageStream(text)).usage, usage)
  t.like(translator.usage, { inputTokens: 6, cacheReadInputTokens: 4, outputTokens: 7 })
})

test('gemini stream: usage after the finish reason is read', (t) => {
  const { text } = translate(piece([{ text: 'a' }], STOP), {
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 },
  })
  t.like(assembleMessage(assertMessageStream(text)).usage, { input_tokens: 3, output_tokens: 1 })
})

test('gemini stream: without a finish reason it is not complete', (t) => {
  const { text, translator } = translate(piece([{ text: 'a' }]))
  t.false(text.includes('message_stop'))
  t.false(translator.isComplete)
  t.is(createMessagesEvents(IDENTITY).end(), '')
})

test('gemini stream: withheld answers are refusals with the provider’s words', (t) => {
  const withheld = piece([{ text: 'a' }], { finishReason: 'SAFETY', finishMessage: 'No “é”.' })
  const message = assembleMessage(assertMessageStream(translate(withheld).text))
  t.like(message, { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'No “é”.' } })
})

test('gemini stream: a blocked prompt is a refusal without content', (t) => {
  const { text } = translate(...toPieces(CONTEXT, { blockReason: 'PROHIBITED_CONTENT' }))
  const message = assembleMessage(assertMessageStream(text))
  t.like(message, { stop_reason: 'refusal', stop_details: { explanation: 'PROHIBITED_CONTENT' } })
  t.deepEqual(message.content, [])
})

test('gemini stream: an error of the source is passed on and ends the answer', (t) => {
  const error = { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } }
  const { text, translator } = translate(piece([{ text: 'a' }]), error, piece([{ text: 'b' }], STOP))
  t.deepEqual(parseEvents(text).at(-1)?.data, {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Slow down.' },
  })
  t.true(translator.hasFailed)
  t.false(translator.isComplete)
})

test('gemini stream: an unreadable event is an error, since its content would be missing', (t) => {
  const image = piece([{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }], STOP)
  for (const broken of [
    '{"candidates":',
    '[]',
    '5',
    '{"candidates":[{"content":{"parts":[{"text":"\\x"}]}}]}',
    image,
  ]) {
    const { text, translator } = translate(piece([{ text: 'a' }]), broken, piece([], STOP))
    t.is(parseEvents(text).at(-1)?.event, 'error', JSON.stringify(broken))
    t.true(translator.hasFailed)
  }
})

const junk = fc.constantFrom<unknown>(null, 5, 'text', '', [], {}, true, [5], [null], [{}])
const anyPart = fc.oneof(
  fc.record({ text: fc.string({ unit: 'binary' }), thought: fc.boolean() }, { requiredKeys: ['text'] }),
  fc.record(
    {
      functionCall: fc.record(
        { name: fc.string({ minLength: 1 }), args: fc.dictionary(fc.string(), fc.jsonValue()), id: fc.string() },
        { requiredKeys: ['name'] },
      ),
      thoughtSignature: fc.base64String({ minLength: 4 }),
    },
    { requiredKeys: ['functionCall'] },
  ),
  fc.record({ text: fc.constantFrom('', 'x'), thoughtSignature: fc.base64String({ minLength: 4 }) }),
)
const usageMetadata = fc.record({ promptTokenCount: fc.nat(), candidatesTokenCount: fc.nat() })
const anyPiece = fc
  .tuple(fc.array(anyPart, { maxLength: 4 }), fc.option(usageMetadata, { nil: undefined }))
  .map(([parts, usage]) => ({ ...piece(parts), usageMetadata: usage }))

test('gemini stream: any sequence of parts gives a valid stream', (t) => {
  const property = fc.property(
    fc.array(anyPiece, { maxLength: 5 }),
    fc.constantFrom('STOP', 'MAX_TOKENS', 'OTHER'),
    (pieces, finishReason) => {
      assertMessageStream(translate(...pieces, piece([], { finishReason })).text)
    },
  )
  t.notThrows(() => fc.assert(property, { numRuns: 300 }))
})

test('gemini stream: no input makes it throw', (t) => {
  const odd = fc.oneof(
    fc.string(),
    fc.json(),
    anyPiece.map((one) => JSON.stringify(one)),
    fc
      .tuple(fc.constantFrom('candidates', 'usageMetadata', 'promptFeedback', 'responseId', 'error'), junk)
      .map(([name, value]) => JSON.stringify({ [name]: value })),
    fc
      .tuple(fc.constantFrom('content', 'finishReason', 'finishMessage'), junk)
      .map(([name, value]) => JSON.stringify({ candidates: [{ [name]: value }] })),
    fc
      .tuple(fc.constantFrom('text', 'functionCall', 'thoughtSignature', 'thought'), junk)
      .map(([name, value]) => JSON.stringify(piece([{ [name]: value }]))),
  )
  const property = fc.property(fc.array(odd, { maxLength: 6 }), (events) => {
    const translator = createMessagesEvents(IDENTITY)
    const text = events.map((event) => translator.event('message', event)).join('') + translator.end()
    if (translator.isComplete) assertMessageStream(text)
    for (const { data } of parseEvents(text)) if (data === undefined) throw new Error(`not JSON: ${text}`)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 1000 }))
})
