import test from 'ava'
import { assembleMessage, assertMessageStream, parseEvents } from '../../../../test/support/events.ts'
import { createMessagesEvents } from './to-messages-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: reads messages of many shapes, and a wrong one fails the test
type Json = any

const options = { model: 'asked', id: 'msg_fallback' }
const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'served' }
const chunk = (delta: object, choice: object = {}) => ({ ...head, choices: [{ index: 0, delta, ...choice }] })
const say = (content: string) => chunk({ content })
const call = (index: number, args: string, first: { id?: string; name?: string } = {}) => {
  const { name, ...rest } = first
  return chunk({ tool_calls: [{ index, ...rest, function: { ...(name && { name }), arguments: args } }] })
}
const begin = (index: number, args = '') => call(index, args, { id: `call_${index}`, name: `tool_${index}` })
const finish = (finish_reason: string, rest: object = {}) => chunk({}, { finish_reason, ...rest })
const counts = { ...head, choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } }
const DONE = '[DONE]'

function translate(...data: unknown[]) {
  const translator = createMessagesEvents(options)
  const give = (item: unknown) => translator.event('message', typeof item === 'string' ? item : JSON.stringify(item))
  const steps = data.map(give)
  steps.push(translator.end())
  return { translator, steps, stream: steps.join('') }
}

function messageOf(...data: unknown[]): Json {
  const { translator, stream } = translate(...data)
  if (!translator.isComplete) throw new Error(`not complete: ${stream}`)
  return assembleMessage(assertMessageStream(stream))
}

/** Joins the pieces of each tool's input, in the order of the tools. */
function inputsOf(stream: string): string[] {
  const inputs: string[] = []
  const events: Json[] = parseEvents(stream)
  for (const { data } of events) {
    if (data.content_block?.type === 'tool_use') inputs.push('')
    if (data.delta?.type === 'input_json_delta') inputs.push(inputs.pop() + data.delta.partial_json)
  }
  return inputs
}

test('messages events: text passes through piece by piece', (t) => {
  const { steps } = translate(say('H'), say('i.'), finish('stop'), DONE)
  t.is(
    steps[1],
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"i."}}\n\n',
  )
})

test('messages events: an answer has its id, model, text, stop reason and counts', (t) => {
  t.deepEqual(messageOf(chunk({ role: 'assistant', content: '' }), say('H'), say('i.'), finish('stop'), counts, DONE), {
    id: 'chatcmpl-1',
    type: 'message',
    role: 'assistant',
    model: 'served',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 },
  })
})

test('messages events: an empty answer has no blocks', (t) => {
  t.deepEqual(messageOf(chunk({ content: null }), finish('stop'), DONE).content, [])
})

test('messages events: a chunk without id and choice does not begin the message', (t) => {
  const azure = { id: '', model: '', choices: [], prompt_filter_results: [] }
  t.like(messageOf(azure, say('Hi.'), finish('stop'), DONE), { id: 'chatcmpl-1', model: 'served' })
})

test('messages events: reasoning, text, a call and text again are blocks in that order', (t) => {
  const data = [chunk({ reasoning_content: 'Hm.' }), say('Look:'), begin(0, '{}'), say('Done.'), finish('stop'), DONE]
  const { content, stop_reason } = messageOf(...data)
  t.deepEqual(content, [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'text', text: 'Look:' },
    { type: 'tool_use', id: 'call_0', name: 'tool_0', input: {} },
    { type: 'text', text: 'Done.' },
  ])
  t.is(stop_reason, 'tool_use')
})

test('messages events: the pieces of a single call pass through at once', (t) => {
  const { steps } = translate(begin(0), call(0, '{"a"'), call(0, ':1.0}'), finish('tool_calls'), DONE)
  t.deepEqual(
    steps.slice(1, 3).map((step) => inputPiece(step)),
    ['{"a"', ':1.0}'],
  )
})

function inputPiece(step: string): string {
  return JSON.parse(step.split('data: ')[1] ?? '').delta.partial_json
}

test('messages events: after a complete call the next one is live at once', (t) => {
  const { steps } = translate(begin(0, '{}'), begin(1), call(1, '{"b":'), call(1, '2}'), finish('tool_calls'), DONE)
  t.is(inputPiece(steps[2] ?? ''), '{"b":')
})

test('messages events: interleaved calls are emitted one after another, whole', (t) => {
  const turns = [begin(0), begin(1), call(0, '{"a":'), call(1, '{"b"'), call(0, '1.0}'), call(1, ':{"10":1,"2":2}}')]
  const { stream } = translate(...turns, finish('tool_calls'), DONE)
  assertMessageStream(stream)
  t.deepEqual(inputsOf(stream), ['{"a":1.0}', '{"b":{"10":1,"2":2}}'])
})

test('messages events: text between the pieces of a call comes after the call', (t) => {
  const { content } = messageOf(begin(0, '{"a"'), say('\n'), call(0, ':1}'), finish('tool_calls'), DONE)
  t.like(content, { 0: { input: { a: 1 } }, 1: { text: '\n' }, length: 2 })
})

test('messages events: calls of one index are distinguished by their ids', (t) => {
  const other = call(0, '{"b":2}', { id: 'call_x', name: 'tool_0' })
  const { content } = messageOf(begin(0, '{"a":1}'), other, finish('stop'), DONE)
  t.like(content, { 0: { id: 'call_0', input: { a: 1 } }, 1: { id: 'call_x', input: { b: 2 } }, length: 2 })
})

test('messages events: of calls of one index the last goes on', (t) => {
  const other = call(0, '{"b"', { id: 'call_x', name: 'tool_0' })
  const { content } = messageOf(begin(0, '{"a":1}'), other, call(0, ':2}'), finish('stop'), DONE)
  t.like(content, { 0: { id: 'call_0', input: { a: 1 } }, 1: { id: 'call_x', input: { b: 2 } }, length: 2 })
})

test('messages events: calls of one index without ids are distinguished by their ends', (t) => {
  const { content } = messageOf(
    call(0, '{"a":1}', { name: 'f' }),
    call(0, '{"b":2}', { name: 'f' }),
    finish('stop'),
    DONE,
  )
  t.like(content, { 0: { input: { a: 1 } }, 1: { input: { b: 2 } }, length: 2 })
  t.not(content[0].id, content[1].id)
})

test('messages events: calls without an index are distinguished by their names', (t) => {
  const named = (name: string) => ({ id: '', function: { name, arguments: '{}' } })
  const { content } = messageOf(chunk({ tool_calls: [named('a'), named('b')] }), finish('stop'), DONE)
  t.like(content, { 0: { name: 'a' }, 1: { name: 'b' }, length: 2 })
  t.not(content[0].id, content[1].id)
})

test('messages events: the legacy function_call is a call', (t) => {
  const first = chunk({ function_call: { name: 'look', arguments: '' } })
  const next = chunk({ function_call: { arguments: '{"a":1}' } })
  t.like(messageOf(first, next, finish('function_call'), DONE).content, { 0: { name: 'look', input: { a: 1 } } })
})

test('messages events: a call without arguments has the input {}', (t) => {
  t.deepEqual(messageOf(begin(0), finish('tool_calls'), DONE).content[0].input, {})
})

test('messages events: arguments that are no object are kept as text', (t) => {
  t.deepEqual(messageOf(begin(0, '["a"'), call(0, ']'), finish('tool_calls'), DONE).content[0].input, {
    arguments: '["a"]',
  })
})

test('messages events: a late name is awaited', (t) => {
  const { content } = messageOf(call(0, '{"a":', { id: 'c' }), call(0, '1}', { name: 'look' }), finish('stop'), DONE)
  t.like(content[0], { id: 'c', name: 'look', input: { a: 1 } })
})

test('messages events: arguments that continue after their end fail the stream', (t) => {
  const { translator, stream } = translate(begin(0, '{}'), call(0, '{"a":1}'), finish('tool_calls'), DONE)
  t.true(translator.hasFailed)
  t.false(translator.isComplete)
  t.is(parseEvents(stream).at(-1)?.event, 'error')
})

test('messages events: the buffer behind a call that does not end is bounded', (t) => {
  const translator = createMessagesEvents(options)
  const give = (data: object) => translator.event('message', JSON.stringify(data))
  give(begin(0, '{"a"'))
  const piece = call(1, 'x'.repeat(1024 * 1024), { name: 'b', id: 'b' })
  for (let n = 0; n < 20 && !translator.hasFailed; n++) give(piece)
  t.true(translator.hasFailed)
})

test('messages events: a call that is passed on as it arrives may be of any length', (t) => {
  const translator = createMessagesEvents(options)
  const give = (data: object) => translator.event('message', JSON.stringify(data))
  give(begin(0, '{"a":"'))
  for (let n = 0; n < 20; n++) t.not(give(call(0, 'x'.repeat(1024 * 1024))), '')
  t.false(translator.hasFailed)
})

test('messages events: a refusal is text, and the stop reason', (t) => {
  const message = messageOf(chunk({ refusal: 'I will' }), chunk({ refusal: ' not.' }), finish('stop'), DONE)
  t.like(message, { content: [{ type: 'text', text: 'I will not.' }], stop_reason: 'refusal' })
})

test('messages events: the stop string that vLLM reports is the stop sequence', (t) => {
  t.like(messageOf(say('a'), finish('stop', { stop_reason: '###' }), DONE), { stop_sequence: '###' })
})

for (const [who, data] of Object.entries({
  'a chunk after the finish reason': [finish('stop'), counts],
  'the finishing chunk': [{ ...finish('stop'), usage: counts.usage }],
  'the finishing choice': [finish('stop', { usage: counts.usage })],
  "Groq's own member": [{ ...finish('stop'), x_groq: { usage: counts.usage } }],
})) {
  test(`messages events: counts are read from ${who}`, (t) => {
    const { translator, stream } = translate(say('Hi.'), ...data, DONE)
    t.like(translator.usage, { inputTokens: 9, outputTokens: 2 })
    t.like(assembleMessage(assertMessageStream(stream)), { usage: { input_tokens: 9, output_tokens: 2 } })
  })
}

test('messages events: a source that ends without [DONE] is complete after a finish reason', (t) => {
  t.true(translate(say('Hi.'), finish('stop')).translator.isComplete)
})

test('messages events: a source that ends without a finish reason is not complete', (t) => {
  const { translator, steps } = translate(say('Hi.'))
  t.false(translator.isComplete)
  t.is(steps.at(-1), '')
})

test('messages events: [DONE] ends an answer without a finish reason', (t) => {
  t.is(messageOf(say('Hi.'), DONE).stop_reason, 'end_turn')
})

test('messages events: further choices are ignored', (t) => {
  const second = { ...head, choices: [{ index: 1, delta: { content: 'No.' }, finish_reason: 'length' }] }
  t.like(messageOf(say('Hi.'), second, finish('stop'), DONE), { content: [{ text: 'Hi.' }], stop_reason: 'end_turn' })
})

test('messages events: an event named error is one, whatever its data', (t) => {
  const translator = createMessagesEvents(options)
  t.regex(translator.event('error', '{"message":"Down."}'), /"message":"Down\."/)
  t.true(translator.hasFailed)
})

test('messages events: nothing follows the end', (t) => {
  const { steps } = translate(say('Hi.'), finish('stop'), DONE, DONE, say('more'), { error: { message: 'late' } })
  t.deepEqual(steps.slice(3), ['', '', '', ''])
})

test("messages events: an error within the stream is the client's error event", (t) => {
  const { translator, stream } = translate(say('Hi.'), { ...head, error: { code: 502, message: 'Down.' } }, DONE)
  t.true(translator.hasFailed)
  const error = { type: 'error', error: { type: 'api_error', message: 'Down.' } }
  t.deepEqual(parseEvents(stream).at(-1)?.data, error)
})

test('messages events: a truncated answer is an error, not an end', (t) => {
  t.true(translate(say('Half'), finish('error'), DONE).translator.hasFailed)
})

test('messages events: other data is ignored', (t) => {
  t.is(translate('no json', '[]', 'null', '{"foo":1}', '', DONE).stream, '')
})
