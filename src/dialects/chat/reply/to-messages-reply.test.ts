import test from 'ava'
import fc from 'fast-check'
import { toMessagesReply } from './to-messages-reply.ts'

const options = { model: 'asked', id: 'msg_fallback' }
const call = (args: unknown, id = 'call_1') => ({ id, type: 'function', function: { name: 'look', arguments: args } })

function translate(message: object, rest: { choice?: object; top?: object } = {}) {
  const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, ...rest.choice }
  const completion = { id: 'chatcmpl-1', model: 'served', choices: [choice], ...rest.top }
  const reply = toMessagesReply(Buffer.from(JSON.stringify(completion)), options)
  return reply && { text: reply.toString(), ...JSON.parse(reply.toString()) }
}

test('messages reply: a plain answer has the id, the model, one text block and its counts', (t) => {
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
  const { text: _, ...message } = translate({ content: 'Hi.' }, { choice: { finish_reason: 'stop' }, top: { usage } })
  t.deepEqual(message, {
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

test('messages reply: id and model are used where the completion has none', (t) => {
  t.like(translate({ content: 'Hi.' }, { top: { id: '', model: undefined } }), { id: 'msg_fallback', model: 'asked' })
})

test('messages reply: arguments keep their exact text as input', (t) => {
  const args = '{"a":1.0,"n":9007199254740993,"10":1,"2":2,"u":"\\u00e9"}'
  const { text, content } = translate({ tool_calls: [call(args)] })
  t.true(text.includes(`"input":${args}}`))
  t.like(content[0], { type: 'tool_use', id: 'call_1', name: 'look' })
})

test('messages reply: calls of a server without ids get ids of their own', (t) => {
  const { content } = translate({ tool_calls: [call('{}', ''), call('{}', '')] })
  t.is(new Set(content.map(({ id }: { id: string }) => id)).size, 2)
})

for (const member of ['reasoning_content', 'reasoning']) {
  test(`messages reply: ${member} is a thinking block with an empty signature before the text`, (t) => {
    t.deepEqual(translate({ content: 'Hi.', [member]: 'Hm.' }).content, [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Hi.' },
    ])
  })
}

test('messages reply: content in parts is their text, and their thinking is a thinking block', (t) => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
  const content = [thinking, { type: 'text', text: 'H' }, { type: 'text', text: 'i.' }]
  t.deepEqual(translate({ content }).content, [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'text', text: 'Hi.' },
  ])
})

test('messages reply: a refusal is text, and the stop reason', (t) => {
  t.like(translate({ refusal: 'I will not.' }, { choice: { finish_reason: 'stop' } }), {
    content: [{ type: 'text', text: 'I will not.' }],
    stop_reason: 'refusal',
  })
})

test('messages reply: an empty answer has no blocks', (t) => {
  t.deepEqual(translate({ content: '' }, { choice: { finish_reason: 'stop' } }).content, [])
})

test('messages reply: without usage the counts are zero', (t) => {
  t.is(translate({ content: 'Hi.' }).usage.output_tokens, 0)
})

test('messages reply: further choices are left out', (t) => {
  const choices = [1, 0].map((index) => ({ index, message: { content: `choice ${index}` } }))
  t.like(translate({}, { top: { choices } }).content[0], { text: 'choice 0' })
})

test('messages reply: a completion without a choice, or a truncated one, is no answer', (t) => {
  t.is(translate({}, { top: { choices: [] } }), undefined)
  t.is(translate({ content: 'Half' }, { choice: { finish_reason: 'error' } }), undefined)
  t.is(toMessagesReply(Buffer.from('<html>'), options), undefined)
})

test('messages reply: any JSON gives a message or nothing', (t) => {
  const said = fc.record(
    { content: fc.jsonValue(), refusal: fc.jsonValue(), reasoning: fc.jsonValue(), tool_calls: fc.jsonValue() },
    { requiredKeys: [] },
  )
  const choices = fc.array(fc.record({ message: said, finish_reason: fc.jsonValue(), index: fc.constantFrom(0, 1) }))
  const completion = fc.oneof(fc.jsonValue(), fc.record({ id: fc.jsonValue(), choices, usage: fc.jsonValue() }))
  t.notThrows(() =>
    fc.assert(
      fc.property(completion, (value) => {
        const reply = toMessagesReply(Buffer.from(JSON.stringify(value)), options)
        return reply === undefined || Array.isArray(JSON.parse(reply.toString()).content)
      }),
    ),
  )
})
