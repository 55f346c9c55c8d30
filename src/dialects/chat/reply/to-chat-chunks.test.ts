import test from 'ava'
import fc from 'fast-check'
import { assembleCompletion, assertChatStream, parseChatChunks } from '../../../../test/support/chat-chunks.ts'
import { createChatChunks } from './to-chat-chunks.ts'

// biome-ignore lint/suspicious/noExplicitAny: reads completions of many shapes, and a wrong one fails the test
type Json = any

const start = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 1 } },
}
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const add = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const close = (index: number) => ({ type: 'content_block_stop', index })
const end = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } })
const stop = { type: 'message_stop' }
const text = open(0, { type: 'text', text: '' })
const word = (words: string, index = 0) => add(index, { type: 'text_delta', text: words })
const tool = (index: number, input: object = {}) =>
  open(index, { type: 'tool_use', id: `toolu_${index}`, name: 'look', input })
const input = (index: number, partial_json: string) => add(index, { type: 'input_json_delta', partial_json })
const answer = [start, text, word('Hi.'), close(0), end('end_turn'), stop]

function translate(events: readonly Json[], includeUsage = false) {
  const translator = createChatChunks({ created: 1_700_000_000, includeUsage })
  const steps = events.map((event) => translator.event(event.type, event.raw ?? JSON.stringify(event)))
  return { translator, steps, stream: steps.join('') + translator.end() }
}

function messageOf(...events: Json[]): Json {
  const completion: Json = assembleCompletion(translate([start, ...events, stop]).stream)
  return completion.choices[0].message
}

test('chat chunks: an answer is a role, its text, a finish reason and [DONE]', (t) => {
  const { stream, translator } = translate(answer)
  const head = 'data: {"id":"msg_1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":['
  const open = ',"logprobs":null,"finish_reason":null}]}\n\n'
  t.is(
    stream,
    `${head}{"index":0,"delta":{"role":"assistant","content":"","refusal":null}${open}` +
      `${head}{"index":0,"delta":{"content":"Hi."}${open}` +
      `${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n` +
      'data: [DONE]\n\n',
  )
  t.true(translator.isComplete)
})

test('chat chunks: with requested usage, the last chunk has it and in every other it is null', (t) => {
  const { stream } = translate(answer, true)
  const chunks = assertChatStream(stream)
  t.true(chunks.slice(0, -1).every(({ usage }) => usage === null))
  t.like(chunks.at(-1), {
    choices: [],
    usage: {
      prompt_tokens: 25,
      completion_tokens: 7,
      total_tokens: 32,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 0 },
    },
  })
})

test('chat chunks: thinking is reasoning_content, and its signature is left out', (t) => {
  const block = [
    open(0, { type: 'thinking', thinking: '', signature: '' }),
    add(0, { type: 'thinking_delta', thinking: 'Hm.' }),
  ]
  const message = messageOf(...block, add(0, { type: 'signature_delta', signature: 's' }), close(0), end('end_turn'))
  t.deepEqual(message, { role: 'assistant', content: null, refusal: null, reasoning_content: 'Hm.' })
})

test('chat chunks: tools are numbered separately, and their input keeps its text', (t) => {
  const first = [tool(1), input(1, ''), input(1, '{"a":'), input(1, '1.0}'), close(1)]
  const second = [tool(2), input(2, '{"10":1,"2":9007199254740993}'), close(2)]
  const { content, tool_calls } = messageOf(text, word('Hi.'), close(0), ...first, ...second, end('tool_use'))
  t.is(content, 'Hi.')
  t.deepEqual(tool_calls, [
    { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"a":1.0}' } },
    { id: 'toolu_2', type: 'function', function: { name: 'look', arguments: '{"10":1,"2":9007199254740993}' } },
  ])
})

test('chat chunks: a tool without input has the arguments {}', (t) => {
  t.is(messageOf(tool(0), input(0, ''), close(0), end('tool_use')).tool_calls[0].function.arguments, '{}')
})

test('chat chunks: input that arrives whole with the start keeps its text', (t) => {
  const block = '{"type":"tool_use","id":"t","name":"é","input":{"a":1.0,"€":"\\u00e9"}}'
  const whole = {
    type: 'content_block_start',
    raw: `{"type":"content_block_start","index":0,"content_block":${block}}`,
  }
  const { function: called } = messageOf(whole, close(0), end('tool_use')).tool_calls[0]
  t.deepEqual(called, { name: 'é', arguments: '{"a":1.0,"€":"\\u00e9"}' })
})

test("chat chunks: blocks of the provider's own tools are left out, their input too", (t) => {
  const server = [
    open(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    input(0, '{"q":1}'),
    close(0),
  ]
  const result = [open(1, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }), close(1)]
  const words = [open(2, { type: 'text', text: '' }), word('Hi.', 2), close(2)]
  const message = messageOf(...server, ...result, ...words, end('end_turn'))
  t.deepEqual(message, { role: 'assistant', content: 'Hi.', refusal: null })
})

test('chat chunks: a ping is a comment', (t) => {
  t.is(translate([start, { type: 'ping' }]).steps[1], ': ping\n\n')
})

test('chat chunks: an error becomes an error chunk, and no [DONE] follows', (t) => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const { translator, steps } = translate([start, text, error, word('late'), stop])
  t.true(translator.hasFailed)
  t.false(translator.isComplete)
  t.deepEqual(parseChatChunks(steps[2] ?? ''), [
    { error: { message: 'Overloaded', type: 'overloaded_error', code: null, param: null } },
  ])
  t.deepEqual(steps.slice(3), ['', ''])
})

test('chat chunks: a stream without message_stop is not complete', (t) => {
  const { translator, stream } = translate(answer.slice(0, -1))
  t.false(translator.isComplete)
  t.false(stream.includes('[DONE]'))
})

test('chat chunks: counts are those of the last event that has them', (t) => {
  t.like(translate(answer).translator.usage, { inputTokens: 5, cacheReadInputTokens: 20, outputTokens: 7 })
})

const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.constantFrom('', 'x') }),
  fc.record({ type: fc.constant('thinking'), thinking: fc.constant('') }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.uuid(),
    name: fc.constant('f'),
    input: fc.constantFrom({}, { a: 1 }, 7),
  }),
  fc.record({ type: fc.constant('server_tool_use'), input: fc.jsonValue() }),
)
const index = fc.nat(3)
const anyEvent = fc.oneof(
  fc.record({ index, content_block: block }).map((event) => ({ type: 'content_block_start', ...event })),
  fc
    .record({
      index,
      delta: fc.constantFrom({ type: 'text_delta', text: 'y' }, { type: 'thinking_delta', thinking: 'z' }),
    })
    .map((event) => ({ type: 'content_block_delta', ...event })),
  index.map(close),
  fc.constantFrom<Json>(
    start,
    end('max_tokens'),
    end('end_turn'),
    stop,
    { type: 'ping' },
    { type: 'x', raw: 'no json' },
  ),
  fc.jsonValue().map((value) => ({ type: 'content_block_delta', raw: JSON.stringify(value) })),
)

test('chat chunks: any events in any order give a valid stream or an incomplete one', (t) => {
  let complete = 0
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.boolean(), (events, includeUsage) => {
        const { translator, stream } = translate([start, ...events], includeUsage)
        if (!translator.isComplete) return !stream.includes('[DONE]')
        complete++
        return assertChatStream(stream).length > 0
      }),
      // About one in ten is complete, so fewer than ten of this many is practically impossible.
      { numRuns: 600 },
    ),
  )
  t.true(complete > 10)
})
