import test from 'ava'
import fc from 'fast-check'
import { assertResponseStream } from '../../../../test/support/response-rules.ts'
import { BytesReply, StreamReply } from '../../../core/reply/reply.ts'
import { EventFramer, printEvent } from '../../../core/reply/sse.ts'
import { streamOfMessage } from '../../../core/reply/stream-of-message.ts'
import { createStreamRenderer } from '../../render.ts'
import { createResponsesDialect } from '../dialect.ts'

const dialect = createResponsesDialect({
  defaultMaxTokens: 1000,
  modelNamed: (name) => name,
  nowMs: () => 1_700_000_000_000,
})
const TOOLS = [
  { type: 'function', name: 'weather', parameters: { type: 'object' } },
  { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
  { type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read', parameters: null }] },
]
const REQUEST = { model: 'm', input: 'hi', tools: TOOLS, stream: true, metadata: { a: '1' } }
const nothing = { start() {}, pause() {}, resume() {}, cancel() {} }

/** Sends a Messages stream, cut into chunks, to a Responses client; a stream that does not end by itself breaks off. */
function respond(chunks: readonly Buffer[], request: object = REQUEST): string {
  const reply = new StreamReply({ status: 200, headers: {} }, nothing)
  const client = dialect.parse(Buffer.from(JSON.stringify(request)))
  const renderer = createStreamRenderer(reply, { dialect, request: client })
  const framer = new EventFramer()
  const portions = chunks.map((chunk) => framer.push(chunk) ?? Buffer.alloc(0))
  return portions.map((portion) => renderer.portion(portion)).join('') + renderer.breakOff('it was cut')
}

function respondTo(events: readonly object[], request?: object): string {
  return respond([Buffer.from(events.map(printAny).join(''))], request)
}

function printAny(event: object): string {
  return printEvent(event as { type: string }) // safe: the events here have types
}

const start = (content: readonly object[] = []) => ({
  type: 'message_start',
  message: { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude', content, usage: { input_tokens: 5 } },
})
const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const text = (index: number, text: string) => delta(index, { type: 'text_delta', text })
const input = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const end = (stop_reason: string | null, usage: object = { output_tokens: 7 }) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const DONE = { type: 'message_stop' }
const call = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input })

const indexes = fc.integer({ min: 0, max: 3 })
const names = fc.constantFrom('weather', 'apply_patch', 'mcp__files__read', 'unknown', '')
const words = fc.oneof(fc.constantFrom('', ' ', '\n'), fc.string({ unit: 'grapheme' }))
const json = fc.constantFrom('', '{', '{"input":', '"a\\nb"', '}', '{"a":1.0}', '[', 'x')
const signatures = fc.constantFrom('', 'c2ln')
const block = fc.oneof(
  words.map((text) => ({ type: 'text', text })),
  fc.record({ type: fc.constant('thinking'), thinking: words, signature: signatures }),
  fc.record({ type: fc.constant('redacted_thinking'), data: words }),
  fc.record({ type: fc.constant('tool_use'), id: words, name: names, input: fc.constantFrom({}, { input: 'x' }, 5) }),
  fc.constant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
  fc.constant({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
  fc.constant({}),
)
const change = fc.oneof(
  words.map((text) => ({ type: 'text_delta', text })),
  words.map((thinking) => ({ type: 'thinking_delta', thinking })),
  signatures.map((signature) => ({ type: 'signature_delta', signature })),
  json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  fc.constant({ type: 'citations_delta', citation: {} }),
)
const reasons = fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'refusal', 'pause_turn', null)
/** Any event of a Messages stream, with no regard to what came before. */
const anyEvent = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(indexes, block).map(([index, found]) => begin(index, found)) },
  { weight: 8, arbitrary: fc.tuple(indexes, change).map(([index, found]) => delta(index, found)) },
  { weight: 4, arbitrary: indexes.map(stop) },
  { weight: 1, arbitrary: reasons.map((reason) => end(reason)) },
  { weight: 1, arbitrary: fc.constantFrom(start(), start([call('t', 'weather', { a: 1 })]), DONE, { type: 'ping' }) },
  { weight: 1, arbitrary: fc.constant({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }) },
)
const anyStream = fc
  .tuple(fc.boolean(), fc.array(anyEvent, { maxLength: 30 }), fc.boolean())
  .map(([begins, events, ends]) => [...(begins ? [start()] : []), ...events, ...(ends ? [end('end_turn'), DONE] : [])])

test('responses stream: whatever the provider sends, and however it is cut, its events are in order', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(anyStream, fc.array(fc.nat(), { maxLength: 6 }), fc.boolean(), (events, cuts, isWhole) => {
        const bytes = Buffer.from(events.map(printAny).join(''))
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)]
        const chunks = places.map((place, index) =>
          bytes.subarray(place, places[index + 1] ?? (isWhole ? bytes.length : place)),
        )
        assertResponseStream(respond(chunks))
      }),
      { numRuns: 500 },
    ),
  )
})

test('responses stream: the last response is that of the same message as JSON', (t) => {
  const content = fc.array(
    block.filter((found) => !('input' in found) || typeof found.input === 'object'),
    { maxLength: 6 },
  )
  t.notThrows(() =>
    fc.assert(
      fc.property(content, reasons, (content, stop_reason) => {
        const message = JSON.stringify({
          ...start().message,
          content,
          stop_reason,
          usage: { input_tokens: 5, output_tokens: 7 },
        })
        const client = dialect.parse(Buffer.from(JSON.stringify(REQUEST)))
        const whole = dialect.render(new BytesReply(200, {}, Buffer.from(message)), client)
        t.deepEqual(JSON.parse(String(whole.bytes)), assertResponseStream(respond([streamOfMessage(message)])))
      }),
    ),
  )
})

test('responses stream: texts in a row are parts of one message, which ends before a call', (t) => {
  const stream = respondTo([
    ...[start(), begin(0, { type: 'text', text: '' }), text(0, 'Let '), text(0, 'me'), stop(0)],
    ...[begin(1, { type: 'text', text: '' }), text(1, ' look.'), stop(1)],
    ...[
      begin(2, call('toolu_1', 'weather')),
      input(2, '{"city":'),
      input(2, ' "Oslo"}'),
      stop(2),
      end('tool_use'),
      DONE,
    ],
  ])
  const { output } = assertResponseStream(stream)
  t.like(output, [
    { type: 'message', id: 'msg_01_0', content: [{ text: 'Let me' }, { text: ' look.' }] },
    { type: 'function_call', id: 'fc_01_1', call_id: 'toolu_1', name: 'weather', arguments: '{"city": "Oslo"}' },
  ])
})

test('responses stream: calls whose pieces come in turns keep their own arguments', (t) => {
  const stream = respondTo([
    ...[start(), begin(0, call('a', 'weather')), begin(1, call('b', 'mcp__files__read'))],
    ...[input(0, '{"a"'), input(1, '{"b"'), input(0, ':1}'), input(1, ':2}'), stop(0), stop(1), end('tool_use'), DONE],
  ])
  t.like(assertResponseStream(stream).output, [
    { call_id: 'a', name: 'weather', arguments: '{"a":1}' },
    { call_id: 'b', name: 'read', namespace: 'mcp__files', arguments: '{"b":2}' },
  ])
})

test('responses stream: a custom tool gets its text, and its call is of its own type', (t) => {
  const stream = respondTo([
    ...[start(), begin(0, call('a', 'apply_patch')), input(0, '{"input":"*** Begin'), input(0, ' Patch\\n"}')],
    ...[stop(0), end('tool_use'), DONE],
  ])
  const { output } = assertResponseStream(stream)
  t.like(output, [{ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch\n' }])
})

test('responses stream: a call without arguments has an empty object', (t) => {
  const stream = respondTo([start(), begin(0, call('a', 'weather')), input(0, ''), stop(0), end('tool_use'), DONE])
  t.like(assertResponseStream(stream).output, [{ arguments: '{}' }])
})

test('responses stream: thinking is a summary, its signature encrypted content', (t) => {
  const stream = respondTo([
    ...[start(), begin(0, { type: 'thinking', thinking: '', signature: '' })],
    ...[
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    ],
    ...[stop(0), begin(1, { type: 'redacted_thinking', data: 'x' }), stop(1), end('end_turn'), DONE],
  ])
  t.like(assertResponseStream(stream).output, [
    { type: 'reasoning', summary: [{ text: 'Hm.' }], encrypted_content: 'messages-thinking:c2ln' },
    { type: 'reasoning', summary: [], encrypted_content: 'messages-redacted:x' },
  ])
})

test('responses stream: a cut at max_tokens is incomplete, and so is its last item alone', (t) => {
  const stream = respondTo([
    ...[
      start(),
      begin(0, call('a', 'weather')),
      input(0, '{}'),
      stop(0),
      begin(1, call('b', 'weather')),
      input(1, '{"ci'),
    ],
    ...[stop(1), end('max_tokens'), DONE],
  ])
  const response = assertResponseStream(stream)
  t.like(response, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, completed_at: null })
  t.like(response.output, [{ status: 'completed' }, { status: 'incomplete', arguments: '{"ci' }])
})

test('responses stream: a custom call that is cut has the text that was written', (t) => {
  const events = [start(), begin(0, call('toolu_1', 'apply_patch')), input(0, '{"input":"*** Begin\\nP\\u00')]
  const response = assertResponseStream(respondTo([...events, end('max_tokens'), DONE]))
  t.like(response.output, [{ status: 'incomplete', input: '*** Begin\nP' }])
})

test('responses stream: a turn that the provider pauses is incomplete', (t) => {
  const response = assertResponseStream(
    respondTo([start(), begin(0, { type: 'text', text: 'Hm' }), end('pause_turn'), DONE]),
  )
  t.like(response, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
})

for (const [type, message, code] of [
  ['overloaded_error', 'Overloaded', 'server_is_overloaded'],
  ['rate_limit_error', 'Slow down', 'rate_limit_exceeded'],
  ['invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum', 'context_length_exceeded'],
  ['api_error', 'Internal', 'server_error'],
] as const) {
  test(`responses stream: ${type} in the stream fails the response as ${code}`, (t) => {
    const stream = respondTo([
      start(),
      begin(0, { type: 'text', text: 'So' }),
      { type: 'error', error: { type, message } },
    ])
    t.like(assertResponseStream(stream), { status: 'failed', error: { code, message }, output: [] })
    t.is(stream.split('event: error\n').length, 2)
  })
}

test('responses stream: a stream that breaks off fails with the reason', (t) => {
  const broken = respondTo([start(), begin(0, { type: 'text', text: 'So' })])
  t.like(assertResponseStream(broken), { status: 'failed', error: { code: 'server_error', message: 'it was cut' } })
})

test('responses stream: the response repeats the request, with defaults', (t) => {
  const tools = [{ type: 'function', name: 'f' }]
  const asked = { model: 'm', input: 'hi', tools, instructions: 'Be brief.', temperature: 0.5, store: true }
  const response = assertResponseStream(respondTo([start(), end('end_turn'), DONE], asked))
  t.like(response, {
    id: 'resp_01',
    instructions: 'Be brief.',
    temperature: 0.5,
    store: false,
    tool_choice: 'auto',
    tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: true }],
    usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
  })
})

test('responses stream: large fields of the request are repeated once, at its end', (t) => {
  const LARGE = 300 * 1024
  const tools = [{ type: 'function', name: 'f', description: 'd'.repeat(LARGE) }]
  const asked = { model: 'm', input: 'hi', tools, instructions: 'i'.repeat(LARGE), temperature: 0.5 }
  const stream = respondTo([start(), end('end_turn'), DONE], asked)
  const whole = assertResponseStream(stream)
  t.is(whole.instructions, asked.instructions)
  t.like(whole.tools, tools)
  const begun = stream.slice(0, stream.indexOf('event: response.completed'))
  t.true(begun.length < LARGE, `${begun.length} characters`)
  t.is(begun.match(/"temperature":0.5/g)?.length, 2)
  t.is(begun.match(/"instructions":null/g)?.length, 2)
})

test('responses stream: the fields that it repeats at its beginning are bounded, whatever they are', (t) => {
  const LARGE = 300 * 1024
  for (const field of [
    'metadata',
    'text',
    'prompt_cache_key',
    'user',
    'safety_identifier',
    'reasoning',
    'tool_choice',
  ]) {
    const long = 'x'.repeat(LARGE)
    const isObject = ['metadata', 'text', 'reasoning', 'tool_choice'].includes(field)
    const stream = respondTo([start(), end('end_turn'), DONE], {
      model: 'm',
      input: 'hi',
      [field]: isObject ? { long } : long,
    })
    t.true(stream.indexOf('event: response.completed') < LARGE, field)
  }
})
