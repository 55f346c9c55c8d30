import test from 'ava'
import { COMPATIBLE, chatOf, chatOfMessages, OPENAI } from '../../../../test/support/chat-translation.ts'
import type { JsonObject } from '../../../../test/support/json.ts'
import type { ChatHabits } from '../to-chat-request.ts'

const MESSAGES = [{ role: 'user', content: 'q' }]
const withFields = (extra: JsonObject, habits?: ChatHabits) => chatOfMessages(MESSAGES, extra, habits)
const onOpenAI = (model: string, extra: JsonObject) =>
  chatOf({ model: 'x', max_tokens: 9, messages: MESSAGES, ...extra }, { model, habits: OPENAI })

test('to chat fields: the limit has the provider’s name, and is not sent when it was assumed', (t) => {
  t.deepEqual(withFields({}).body, { model: 'm', messages: MESSAGES, max_tokens: 100 })
  t.is(onOpenAI('gpt-4o', {}).body.max_completion_tokens, 9)
  const assumed = chatOf({ model: 'x', max_tokens: 9, messages: MESSAGES }, { assumed: ['max_tokens'] })
  t.deepEqual(assumed.body, { model: 'm', messages: MESSAGES })
})

test('to chat fields: a stream requests its usage where the provider supports that', (t) => {
  t.deepEqual(withFields({ stream: true }).body.stream_options, { include_usage: true })
  const { body } = withFields({ stream: true }, { ...COMPATIBLE, streamUsage: false })
  t.deepEqual([body.stream, body.stream_options], [true, undefined])
  t.is(withFields({ stream: false }).body.stream, undefined)
})

test('to chat fields: sampling, stop sequences and the user are carried', (t) => {
  const extra = { temperature: 0.5, top_p: 0.9, stop_sequences: ['a'], metadata: { user_id: 'u' } }
  const { body, dropped } = withFields(extra)
  t.like(body, { temperature: 0.5, top_p: 0.9, stop: ['a'], user: 'u' })
  t.deepEqual(dropped, [])
})

test('to chat fields: fixed sampling is not sent, and reported unless it is the default', (t) => {
  const sampling = { temperature: 0.5, top_p: 1 }
  const fixed = onOpenAI('o3-mini', sampling)
  t.deepEqual([fixed.body.temperature, fixed.body.top_p, fixed.dropped], [undefined, undefined, ['temperature']])
  const free = onOpenAI('gpt-4o', sampling)
  t.deepEqual([free.body.temperature, free.body.top_p, free.dropped], [0.5, 1, []])
})

test('to chat fields: more stop sequences than the provider takes are refused', (t) => {
  const { refused } = onOpenAI('gpt-4o', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] })
  t.regex(refused[0] ?? '', /^stop_sequences: .*4/)
})

test('to chat fields: fields without effect on the answer are dropped, others are refused', (t) => {
  const extra = { top_k: 5, service_tier: 'auto', context_management: {}, cache_control: {}, speed: 'fast', novel: 1 }
  t.deepEqual([...withFields(extra).dropped].sort(), Object.keys(extra).sort())
  t.deepEqual(withFields({ metadata: { user_id: 'u', a: 1 }, container: null, mcp_servers: [] }).dropped, ['metadata'])
  const { refused } = withFields({ container: 'c', mcp_servers: [{}] })
  t.deepEqual(
    refused.map((line) => line.split(':')[0]),
    ['container', 'mcp_servers'],
  )
})

test('to chat fields: a field of an invalid type is refused, not ignored', (t) => {
  const { refused } = withFields({ tool_choice: 'auto', thinking: 'on', output_config: 5 })
  t.deepEqual(
    refused.map((line) => line.split(':')[0]),
    ['tool_choice', 'thinking', 'output_config'],
  )
  t.regex(withFields({ output_config: { format: { type: 'novel' } } }).refused[0] ?? '', /^output_config\.format: /)
})

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const format = (schema: object) => ({ type: 'json_schema', schema })

test('to chat fields: an output format becomes a strict schema', (t) => {
  const expected = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } }
  t.deepEqual(withFields({ output_config: { format: format(schema) } }).body.response_format, expected)
  t.deepEqual(withFields({ output_format: format(schema) }).body.response_format, expected)
  t.deepEqual(withFields({ output_config: { format: { type: 'json_object' } } }).body.response_format, {
    type: 'json_object',
  })
})

test('to chat fields: a schema that OpenAI would refuse as strict is sent as advice, and reported', (t) => {
  for (const loose of [
    { ...schema, required: [] },
    { ...schema, additionalProperties: undefined },
    { ...schema, properties: { a: { type: 'array', items: { type: 'object' } } } },
  ]) {
    const { body, dropped } = withFields({ output_config: { format: format(loose) } })
    t.like(body.response_format, { json_schema: { strict: false } })
    t.deepEqual(dropped, ['output_config.format.strict'])
  }
})

const tool = { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } }
const functionTool = { type: 'function', function: { name: 'f', description: 'd', parameters: tool.input_schema } }

test('to chat tools: a tool becomes a function, without members that only Messages has', (t) => {
  const marked = { ...tool, type: 'custom', cache_control: {}, defer_loading: true, input_examples: [{}] }
  const { body, dropped } = withFields({ tools: [tool, marked] })
  t.deepEqual(body.tools, [functionTool, functionTool])
  t.deepEqual([...dropped].sort(), ['tools.cache_control', 'tools.defer_loading', 'tools.input_examples'])
})

test('to chat tools: a strict tool stays strict where OpenAI accepts its schema, and is reported elsewhere', (t) => {
  const { body, dropped } = withFields({
    tools: [
      { ...tool, strict: true },
      { ...tool, strict: true, input_schema: schema },
    ],
  })
  t.deepEqual(body.tools, [
    functionTool,
    { type: 'function', function: { ...functionTool.function, parameters: schema, strict: true } },
  ])
  t.deepEqual(dropped, ['tools.strict'])
})

test('to chat tools: a tool that the Messages provider runs is refused by its path', (t) => {
  const { refused } = withFields({ tools: [tool, { type: 'web_search_20250305', name: 'web_search' }] })
  t.deepEqual(refused, ['tools[1]: this provider has no tool of type web_search_20250305'])
})

for (const [choice, expected] of [
  [{ type: 'auto' }, { tool_choice: 'auto' }],
  [{ type: 'any' }, { tool_choice: 'required' }],
  [{ type: 'none' }, { tool_choice: 'none' }],
  [{ type: 'tool', name: 'f' }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
  [
    { type: 'auto', disable_parallel_tool_use: true },
    { tool_choice: 'auto', parallel_tool_calls: false },
  ],
] as const) {
  test(`to chat tools: ${JSON.stringify(choice)} becomes ${JSON.stringify(expected)}`, (t) => {
    const {
      model: _,
      messages: __,
      max_tokens: ___,
      tools,
      ...rest
    } = withFields({ tools: [tool], tool_choice: choice }).body
    t.deepEqual([tools, rest], [[functionTool], expected])
  })
}

test('to chat tools: a choice without tools is left out', (t) => {
  t.is(withFields({ tool_choice: { type: 'auto' } }).body.tool_choice, undefined)
})

const enabled = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens })
const adaptive = { type: 'adaptive' }
for (const [extra, effort] of [
  [{ thinking: enabled(4095) }, 'low'],
  [{ thinking: enabled(4096) }, 'medium'],
  [{ thinking: enabled(16_384) }, 'high'],
  [{ thinking: adaptive }, undefined],
  [{ thinking: adaptive, output_config: { effort: 'max' } }, 'high'],
  [{ thinking: enabled(1024), output_config: { effort: 'medium' } }, 'medium'],
  [{ thinking: { type: 'disabled' } }, undefined],
  [{}, undefined],
] as const) {
  test(`to chat reasoning: ${JSON.stringify(extra)} requests ${effort ?? 'nothing'}`, (t) => {
    const { body, dropped } = withFields(extra)
    t.deepEqual([body.reasoning_effort, dropped], [effort, []])
  })
}

test('to chat reasoning: it is dropped, and reported, where no effort is accepted', (t) => {
  const requested = { thinking: enabled(4096), output_config: { effort: 'low' } }
  const lost = ['thinking', 'output_config.effort']
  const nowhere = withFields(requested, { ...COMPATIBLE, reasoningEffort: false })
  t.deepEqual([nowhere.body.reasoning_effort, nowhere.dropped], [undefined, lost])
  const plain = onOpenAI('gpt-4o', requested)
  t.deepEqual([plain.body.reasoning_effort, plain.dropped], [undefined, lost])
  t.is(onOpenAI('gpt-5', requested).body.reasoning_effort, 'low')
})

test('to chat reasoning: disabled thinking is reported as dropped on a model that always reasons', (t) => {
  t.deepEqual(onOpenAI('o3', { thinking: { type: 'disabled' } }).dropped, ['thinking'])
  t.deepEqual(onOpenAI('gpt-4o', { thinking: { type: 'disabled' } }).dropped, [])
})
