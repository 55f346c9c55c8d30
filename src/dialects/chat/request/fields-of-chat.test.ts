import test from 'ava'
import { DEFAULT_MAX_TOKENS, messagesOf } from '../../../../test/support/chat-translation.ts'
import type { JsonObject } from '../../../../test/support/json.ts'

const withFields = (extra: JsonObject) =>
  messagesOf({ model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'q' }], ...extra })
const tool = { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }
const translatedTool = { name: 'f', description: 'd', input_schema: { type: 'object' } }

test('chat fields: a missing limit is assumed', (t) => {
  const { body, assumed } = withFields({ max_tokens: null })
  t.is(body.max_tokens, DEFAULT_MAX_TOKENS)
  t.deepEqual(assumed, ['max_tokens'])
})

test('chat fields: the limit may have both of its names', (t) => {
  const { body, assumed, dropped } = withFields({ max_tokens: 7, max_completion_tokens: 7 })
  t.is(body.max_tokens, 7)
  t.deepEqual([assumed, dropped], [[], []])
})

test('chat fields: fields without effect cost nothing', (t) => {
  const { body, dropped, refused } = withFields({
    max_tokens: 5,
    ...{ n: 1, logprobs: false, top_logprobs: 0, logit_bias: {}, modalities: ['text'], audio: null, user: '' },
    ...{ presence_penalty: 0, frequency_penalty: 0, seed: null, stop: null, tools: null, tool_choice: null },
    ...{
      stream: null,
      stream_options: { include_usage: true },
      response_format: { type: 'text' },
      service_tier: 'auto',
    },
  })
  t.deepEqual(body, { model: 'claude-sonnet-4-5', max_tokens: 5, messages: [{ role: 'user', content: 'q' }] })
  t.deepEqual([dropped, refused], [[], []])
})

test('chat fields: fields with another name or form are carried', (t) => {
  const { body } = withFields({ stop: 'x', stream: true, user: 'u', safety_identifier: 'u', service_tier: 'default' })
  t.deepEqual(body.stop_sequences, ['x'])
  t.true(body.stream)
  t.deepEqual(body.metadata, { user_id: 'u' })
  t.is(body.service_tier, 'standard_only')
})

test('chat fields: fields without effect on the answer are dropped and reported', (t) => {
  const extra = { seed: 1, presence_penalty: 0.5, store: true, metadata: { a: 'b' }, novel: 1, service_tier: 'flex' }
  t.deepEqual([...withFields(extra).dropped].sort(), Object.keys(extra).sort())
})

test('chat fields: a name that the client made up is not repeated', (t) => {
  const made = { 'a\r\nset-cookie: x': 1, é: 1, ['x'.repeat(65)]: 1 }
  t.deepEqual(withFields(made).dropped, ['(other)'])
})

test('chat fields: a type that cannot be printed safely is refused like others', (t) => {
  const type = { toString: 5, valueOf: 5 }
  t.regex(withFields({ tools: [{ type }], tool_choice: { type } }).refused[0] ?? '', /^tools\[0\]: .*\(object\)/)
})

for (const [name, value] of Object.entries({
  n: 2,
  logprobs: true,
  top_logprobs: 3,
  logit_bias: { 50: 1 },
  modalities: ['text', 'audio'],
  audio: { voice: 'x' },
  web_search_options: {},
})) {
  test(`chat fields: ${name} is refused`, (t) => {
    t.true(withFields({ [name]: value }).refused[0]?.startsWith(`${name}: `))
  })
}

test('chat fields: a JSON schema becomes the output format, beside the effort', (t) => {
  const schema = { type: 'object', properties: {} }
  const { body, dropped } = withFields({
    model: 'claude-opus-4-6',
    reasoning_effort: 'medium',
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
  })
  t.deepEqual(body.output_config, { effort: 'medium', format: { type: 'json_schema', schema } })
  t.deepEqual(dropped, [])
  const loose = { type: 'json_schema', json_schema: { name: 'n', schema, strict: false } }
  t.deepEqual(withFields({ response_format: loose }).dropped, ['response_format.json_schema.strict'])
})

test('chat fields: JSON without a schema is left to the provider', (t) => {
  t.deepEqual(withFields({ response_format: { type: 'json_object' } }).body.output_config, {
    format: { type: 'json_object' },
  })
  t.regex(withFields({ response_format: { type: 'grammar' } }).refused[0] ?? '', /^response_format: /)
})

test('chat fields: sampling is carried, except values that a thinking or a newer Claude refuses', (t) => {
  const sampling = { temperature: 0.5, top_p: 0.5, top_k: 5 }
  const pick = ({ body, dropped }: ReturnType<typeof withFields>) => [
    body.temperature,
    body.top_p,
    body.top_k,
    ...dropped,
  ]
  t.deepEqual(pick(withFields(sampling)), [0.5, 0.5, 5])
  const none = [undefined, undefined, undefined, 'temperature', 'top_p', 'top_k']
  t.deepEqual(pick(withFields({ ...sampling, reasoning_effort: 'low' })), none)
  t.deepEqual(pick(withFields({ ...sampling, model: 'claude-opus-4-7' })), none)
  t.deepEqual(pick(withFields({ ...sampling, model: 'gemini-3-pro', reasoning_effort: 'low' })), [0.5, 0.5, 5])
  t.deepEqual(pick(withFields({ temperature: 1, top_p: 0.97, reasoning_effort: 'low' })), [1, 0.97, undefined])
})

test('chat tools: a function becomes a tool, a missing schema that of an empty object', (t) => {
  const strict = {
    type: 'function',
    function: { name: 'g', strict: true, parameters: null },
    cache_control: { type: 'e' },
  }
  const { body, dropped } = withFields({ tools: [tool, strict], functions: [{ name: 'h', parameters: {} }] })
  t.deepEqual(body.tools, [
    translatedTool,
    { name: 'g', input_schema: { type: 'object', properties: {} }, strict: true, cache_control: { type: 'e' } },
    { name: 'h', input_schema: { type: 'object' } },
  ])
  t.deepEqual(dropped, [])
})

test('chat tools: a tool of another kind is refused', (t) => {
  t.regex(withFields({ tools: [tool, { type: 'custom', custom: { name: 'c' } }] }).refused[0] ?? '', /^tools\[1\]: /)
})

const named = { type: 'function', function: { name: 'f' } }
for (const [extra, expected] of [
  [{ tool_choice: 'auto' }, { type: 'auto' }],
  [{ tool_choice: 'required' }, { type: 'any' }],
  [{ tool_choice: 'none' }, { type: 'none' }],
  [{ tool_choice: named }, { type: 'tool', name: 'f' }],
  [{ function_call: { name: 'f' } }, { type: 'tool', name: 'f' }],
  [{ function_call: 'none' }, { type: 'none' }],
  [{ tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } } }, { type: 'any' }],
  [{ parallel_tool_calls: true }, undefined],
  [{ parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
  [
    { parallel_tool_calls: false, tool_choice: 'required' },
    { type: 'any', disable_parallel_tool_use: true },
  ],
  [{ parallel_tool_calls: false, tool_choice: 'none' }, { type: 'none' }],
] as const) {
  test(`chat tools: ${JSON.stringify(extra)} becomes ${JSON.stringify(expected)}`, (t) => {
    t.deepEqual(withFields({ tools: [tool], ...extra }).body.tool_choice, expected)
  })
}

test('chat tools: a list of allowed tools that leaves one out is refused', (t) => {
  const other = { type: 'function', function: { name: 'g' } }
  for (const [offered, allowed] of [
    [[tool], []],
    [[tool, other], [named]],
  ]) {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: allowed } }
    t.regex(withFields({ tools: offered, tool_choice: choice }).refused[0] ?? '', /^tool_choice\.allowed_tools: /)
  }
})

test('chat tools: without tools a choice that forces none is left out', (t) => {
  const { body } = withFields({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })
  t.deepEqual([body.tools, body.tool_choice], [undefined, undefined])
})
