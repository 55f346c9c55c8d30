import test from 'ava'
import fc from 'fast-check'
import { toChatReply } from './to-chat-reply.ts'

const options = { created: 1_700_000_000 }
const text = { type: 'text', text: 'Hi.' }

function translate(content: unknown, rest: object = {}) {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, ...rest }
  const reply = toChatReply(Buffer.from(JSON.stringify(message)), options)
  return reply && JSON.parse(reply.toString())
}

test('chat reply: a plain answer is a completion with one choice and its counts', (t) => {
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 10,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 3 },
  }
  t.deepEqual(translate([text], { stop_reason: 'end_turn', usage }), {
    id: 'msg_1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 35,
      completion_tokens: 7,
      total_tokens: 42,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  })
})

test('chat reply: the input of a tool keeps its exact text as arguments', (t) => {
  const input = '{"a": 1.0, "n":9007199254740993,"10":1,"2":2,"u":"\\u00e9é"}'
  const bytes = `{"id":"msg_1","content":[{"type":"text","text":"é"},{"type":"tool_use","id":"t","name":"f","input":${input}}]}`
  const { message } = JSON.parse(String(toChatReply(Buffer.from(bytes), options))).choices[0]
  t.deepEqual(message.tool_calls, [{ id: 't', type: 'function', function: { name: 'f', arguments: input } }])
})

test('chat reply: content is null where there is no text', (t) => {
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const { message, finish_reason } = translate([call], { stop_reason: 'tool_use' }).choices[0]
  t.is(message.content, null)
  t.is(message.tool_calls[0].function.arguments, '{}')
  t.is(finish_reason, 'tool_calls')
})

test('chat reply: thinking is reasoning_content, and several texts are one', (t) => {
  const { message } = translate([{ type: 'thinking', thinking: 'Hm.', signature: 's' }, text, text]).choices[0]
  t.is(message.reasoning_content, 'Hm.')
  t.is(message.content, 'Hi.Hi.')
})

test("chat reply: the provider's own tools are left out, and the text around them stays", (t) => {
  const blocks = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    text,
  ]
  t.deepEqual(translate(blocks).choices[0].message, { role: 'assistant', content: 'Hi.', refusal: null })
})

test('chat reply: an object without content is no message', (t) => {
  t.is(toChatReply(Buffer.from('{"type":"error"}'), options), undefined)
  t.is(toChatReply(Buffer.from('no json'), options), undefined)
})

test('chat reply: any blocks give a valid completion', (t) => {
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'thinking', 'tool_use', 'x'),
      text: fc.jsonValue(),
      thinking: fc.jsonValue(),
      id: fc.jsonValue(),
      input: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  )
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(fc.oneof(block, fc.jsonValue())), (blocks) => translate(blocks).choices.length === 1),
    ),
  )
})
