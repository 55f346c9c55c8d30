import test from 'ava'
import { assembleMessage, assertMessageStream, parseEvents, type SseEvent } from './events.ts'
import { type JsonObject, valueAt } from './json.ts'
import { loadErrors, loadRecordings } from './recordings.ts'

const usage = { input_tokens: 3, output_tokens: 1 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage }
const start = { type: 'message_start', message }
const ping = { type: 'ping' }
const open = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block })
const add = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta })
const close = (index: number) => ({ type: 'content_block_stop', index })
const text = { type: 'text', text: '' }
const tool = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const thinking = { type: 'thinking', thinking: '', signature: '' }
const word = { type: 'text_delta', text: 'hi' }
const input = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }
const stop = { type: 'message_stop' }
const end = [delta, stop]
const block = [open(0, text), add(0, word), close(0)]

const toEvents = (data: readonly JsonObject[]): SseEvent[] =>
  data.map((item) => ({ event: String(item.type), data: item, text: JSON.stringify(item) }))
const startWith = (members: JsonObject) => [{ ...start, message: { ...message, ...members } }, ...block, ...end]

const good: Record<string, JsonObject[]> = {
  'no blocks': [start, ...end],
  'a ping in every gap': [start, ping, ...block.flatMap((event) => [event, ping]), delta, ping, stop],
  'thinking with its signature': [
    start,
    open(0, thinking),
    add(0, { type: 'thinking_delta', thinking: 'x' }),
    add(0, { type: 'signature_delta', signature: 's' }),
    close(0),
    ...end,
  ],
  'a citation in text': [
    start,
    open(0, text),
    add(0, word),
    add(0, { type: 'citations_delta', citation: {} }),
    close(0),
    ...end,
  ],
  'a tool without arguments': [start, open(0, tool), add(0, input('')), close(0), ...end],
  'tool input in pieces': [
    start,
    ...block,
    open(1, tool),
    add(1, input('{"a"')),
    add(1, input(':1}')),
    close(1),
    ...end,
  ],
  'a call made by provider-side code, whole in its start': [
    start,
    open(0, { ...tool, input: { a: 1 }, caller: { type: 'code_execution_20260120' } }),
    close(0),
    ...end,
  ],
}

const bad: [claim: string, events: JsonObject[], message: RegExp][] = [
  ['an empty stream', [], /without message_stop/],
  ['a ping before message_start', [ping, start, ...end], /event 0 \(ping\): the first event must be message_start/],
  ['a second message_start', [start, start, ...end], /second message_start/],
  ['a missing message_stop', [start, ...block, delta], /without message_stop/],
  ['an event after message_stop', [start, ...end, ping], /nothing may follow/],
  ['an error event', [start, { type: 'error', error: { type: 'overloaded_error' } }], /error.*overloaded_error/],
  ['an unknown event', [start, { type: 'hello' }, ...end], /no such event/],
  ['a message without id', startWith({ id: '' }), /message\.id/],
  ['a message of another type', startWith({ type: 'completion' }), /message\.type/],
  ['a message of another role', startWith({ role: 'user' }), /message\.role/],
  ['a message without model', startWith({ model: undefined }), /message\.model/],
  ['a message that starts with content', startWith({ content: [text] }), /message\.content/],
  ['a message that starts with a stop_reason', startWith({ stop_reason: 'end_turn' }), /message\.stop_reason/],
  ['a message that starts with a stop_sequence', startWith({ stop_sequence: 'x' }), /message\.stop_sequence/],
  ['a message without usage', startWith({ usage: undefined }), /message\.usage/],
  ['a usage without input_tokens', startWith({ usage: { output_tokens: 1 } }), /input_tokens/],
  ['a usage with a fraction', startWith({ usage: { ...usage, output_tokens: 1.5 } }), /output_tokens/],
  ['a first index that is not 0', [start, open(1, text), close(1), ...end], /index must be 0, not 1/],
  ['an index used twice', [start, ...block, ...block, ...end], /index must be 1, not 0/],
  ['a gap between indices', [start, ...block, open(2, text), close(2), ...end], /index must be 1, not 2/],
  [
    'a block within a block',
    [start, open(0, text), open(1, text), close(1), close(0), ...end],
    /block 0 is still open/,
  ],
  ['a text block that starts filled', [start, open(0, { ...text, text: 'x' }), close(0), ...end], /start with text ""/],
  ['thinking that starts filled', [start, open(0, { ...thinking, thinking: 'x' }), close(0), ...end], /thinking ""/],
  ['a tool that starts with its input', [start, open(0, { ...tool, input: { a: 1 } }), close(0), ...end], /input \{\}/],
  ['a tool without id', [start, open(0, { ...tool, id: undefined }), close(0), ...end], /an id and a name/],
  ['a block without type', [start, open(0, {}), close(0), ...end], /content_block/],
  ['a delta outside a block', [start, add(0, word), ...end], /no block is open/],
  ['a delta of another index', [start, open(0, text), add(1, word), close(0), ...end], /index must be 0/],
  [
    'a text_delta in a tool_use',
    [start, open(0, tool), add(0, word), close(0), ...end],
    /text_delta may not.*tool_use/,
  ],
  ['an input_json_delta in text', [start, open(0, text), add(0, input('')), close(0), ...end], /may not be in a text/],
  [
    'a thinking_delta in text',
    [start, open(0, text), add(0, { type: 'thinking_delta', thinking: '' }), close(0), ...end],
    /may not/,
  ],
  [
    'a citations_delta in thinking',
    [start, open(0, thinking), add(0, { type: 'citations_delta', citation: {} }), close(0), ...end],
    /may not/,
  ],
  [
    'a delta in a block that comes whole',
    [start, open(0, { type: 'redacted_thinking', data: 'x' }), add(0, word), close(0), ...end],
    /may not/,
  ],
  ['a delta without its text', [start, open(0, text), add(0, { type: 'text_delta' }), close(0), ...end], /a string/],
  [
    'pieces of an input that came whole',
    [start, open(0, { ...tool, input: { a: 1 }, caller: { type: 'x' } }), add(0, input('{}')), close(0), ...end],
    /came whole/,
  ],
  [
    'tool input that is cut',
    [start, open(0, tool), add(0, input('{"a":')), close(0), ...end],
    /not a JSON object: \{"a":/,
  ],
  ['tool input that is a list', [start, open(0, tool), add(0, input('[]')), close(0), ...end], /not a JSON object/],
  ['a stop of another index', [start, open(0, text), close(1), ...end], /index must be 0/],
  ['a second stop of a block', [start, ...block, close(0), ...end], /no block is open/],
  ['a block that never stops', [start, open(0, text), ...end], /block 0 is still open/],
  ['a block after message_delta', [start, delta, ...block, stop], /may not start after message_delta/],
  ['a missing message_delta', [start, ...block, stop], /must follow message_delta/],
  ['a message_delta without stop_reason', [start, { ...delta, delta: { stop_reason: null } }, stop], /stop_reason/],
  ['a message_delta without usage', [start, { ...delta, usage: undefined }, stop], /usage object/],
  ['output tokens that fall', [start, { ...delta, usage: { output_tokens: 0 } }, stop], /fell from 1 to 0/],
]

for (const [claim, events] of Object.entries(good)) {
  test(`stream checker: accepts ${claim}`, (t) => {
    t.notThrows(() => assertMessageStream(toEvents(events)))
  })
}

for (const [claim, events, expected] of bad) {
  test(`stream checker: rejects ${claim}`, (t) => {
    t.throws(() => assertMessageStream(toEvents(events)), { message: expected })
  })
}

test('stream checker: rejects an event named otherwise than its data', (t) => {
  const [first, ...rest] = toEvents([start, ...end])
  t.throws(() => assertMessageStream([{ ...first!, event: 'message' }, ...rest]), {
    message: /its name is not the type/,
  })
})

test('stream checker: rejects data that is not JSON', (t) => {
  t.throws(() => assertMessageStream('event: message_start\ndata: {\n\n'), {
    message: /event 0.*not a JSON object: \{/,
  })
})

test('stream checker: rejects bytes that are not UTF-8', (t) => {
  t.throws(() => assertMessageStream(Buffer.from([0x64, 0xff, 0x0a, 0x0a])), { message: /not UTF-8/ })
})

test('stream checker: rejects bytes whose last event is unfinished', (t) => {
  t.throws(() => assertMessageStream('event: ping\ndata: {}\n'), { message: /last event is unfinished/ })
})

test('SSE parser: takes every line end, comments, several data lines and a byte order mark', (t) => {
  const events = parseEvents(
    '\uFEFF:hello\r\nevent: a\r\ndata: [1,\r\ndata:2]\r\rdata\n\nevent: none\n\nid: 1\ndata:  x\n\n',
  )
  t.deepEqual(events, [
    { event: 'a', data: [1, 2], text: '[1,\n2]' },
    { event: 'message', data: undefined, text: '' },
    { event: 'message', data: undefined, text: ' x' },
  ])
})

test('SSE parser: drops an event that is not ended by a blank line', (t) => {
  t.deepEqual(parseEvents('data: 1\n\ndata: 2\n'), [{ event: 'message', data: 1, text: '1' }])
})

test('stream checker: accepts every recorded Anthropic stream', (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  for (const { name, response } of items.filter((item) => item.response.isStream)) {
    t.notThrows(() => assertMessageStream(response.bytes), name)
  }
  t.pass()
})

test('stream checker: rejects a recorded error within a stream', (t) => {
  const { items, absent } = loadErrors()
  if (absent) t.log(absent)
  for (const { response } of items.filter((item) => item.response.isStream)) {
    t.throws(() => assertMessageStream(response.bytes), { message: /overloaded_error/ })
  }
  t.pass()
})

test('assembler: joins text, input, citations and the last usage', (t) => {
  const events = [...good['tool input in pieces']!.slice(0, -2), { ...delta, container: null }, stop]
  const assembled = assembleMessage(toEvents(events))
  t.deepEqual(assembled.content, [
    { type: 'text', text: 'hi' },
    { ...tool, input: { a: 1 } },
  ])
  t.like(assembled, {
    id: 'msg_1',
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
    container: null,
  })
})

test('assembler: gives every recorded stream all its blocks and its stop reason', (t) => {
  const { items, absent } = loadRecordings()
  if (absent) t.log(absent)
  for (const { name, response } of items.filter((item) => item.response.isStream)) {
    const events = parseEvents(response.bytes)
    const starts = events.filter(({ event }) => event === 'content_block_start')
    const { content, stop_reason: reason } = assembleMessage(events)
    t.is(valueAt(content, 'length'), starts.length, name)
    t.is(
      reason,
      events.map(({ data }) => valueAt(data, 'delta.stop_reason')).find((value) => typeof value === 'string'),
    )
  }
  t.pass()
})
