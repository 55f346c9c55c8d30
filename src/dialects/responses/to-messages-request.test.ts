import test from 'ava'
import { type JsonObject, valueAt } from '../../../test/support/json.ts'
import { messageRequestSchema } from '../../core/request/message.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { toMessagesRequest } from './to-messages-request.ts'

/** Translates a Responses request; throws when the result is no valid Messages request. */
function messagesOf(fields: JsonObject) {
  const document = new RequestDocument(Buffer.from(JSON.stringify({ model: 'claude-sonnet-4-5', ...fields })))
  const { bytes, droppedFields, assumed } = toMessagesRequest(document, { defaultMaxTokens: 4096 })
  const body = messageRequestSchema.parse(JSON.parse(bytes.toString()))
  return { body, dropped: droppedFields.dropped, refused: droppedFields.refused, assumed }
}

const user = (content: unknown) => ({ role: 'user', content })
const called = (call_id: string, name = 'f') => ({
  type: 'function_call',
  id: 'fc_1',
  call_id,
  name,
  arguments: '{"a":1}',
})
const output = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output })
const use = (id: string, name = 'f') => ({ type: 'tool_use', id, name, input: { a: 1 } })
const result = (tool_use_id: string, content: unknown) => ({ type: 'tool_result', tool_use_id, content })
const text = (text: string) => ({ type: 'text', text })

test('responses request: a string is a message of the user', (t) => {
  const { body, assumed } = messagesOf({ input: 'hi' })
  t.deepEqual(body.messages, [{ role: 'user', content: 'hi' }])
  t.is(body.max_tokens, 4096)
  t.deepEqual(assumed, ['max_tokens'])
})

test('responses request: instructions and messages of the system are hoisted in their order', (t) => {
  const { body } = messagesOf({
    instructions: 'a',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'b' }] },
      user('hi'),
      { role: 'system', content: 'c' },
    ],
  })
  t.deepEqual(body.system, [text('a'), text('b'), text('c')])
})

test('responses request: items of the assistant are one message, results the beginning of the next', (t) => {
  const { body, dropped } = messagesOf({
    input: [
      user('go'),
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'messages-thinking:c2ln',
      },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Look.', annotations: [], logprobs: [] }],
      },
      ...[called('a'), called('b'), output('b', 'two'), output('a', 'one'), user('on'), output('a', 'one again')],
    ],
  })
  t.deepEqual(body.messages, [
    user('go'),
    {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, text('Look.'), use('a'), use('b')],
    },
    user([result('b', 'two'), result('a', 'one again'), text('on')]),
  ] as typeof body.messages)
  t.deepEqual(dropped, [])
})

test('responses request: a result after the user has gone on is still the first of its message', (t) => {
  const { body } = messagesOf({ input: [user('go'), called('a'), user('wait'), user('no'), output('a', 'one')] })
  t.deepEqual(body.messages.slice(2), [user([result('a', 'one'), text('wait')]), user('no')] as typeof body.messages)
})

test('responses request: a call that was cut goes on, its arguments as the text that was written', (t) => {
  for (const args of ['{"command":"ls', '[1]', '{'])
    t.deepEqual(
      valueAt(
        messagesOf({ input: [user('go'), { ...called('a'), arguments: args }, output('a', 'no')] }).body.messages,
        '1.content.0.input',
      ),
      { arguments: args },
    )
})

test('responses request: a result may have parts', (t) => {
  const parts = [
    { type: 'input_text', text: 'x' },
    { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
  ]
  const { body } = messagesOf({ input: [user('go'), called('a'), output('a', parts)] })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
  t.deepEqual(valueAt(body.messages, '2.content'), [result('a', [text('x'), image])])
})

test('responses request: thinking that another provider has encrypted is dropped, and reported', (t) => {
  const { body, dropped } = messagesOf({
    input: [user('go'), { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, called('a'), output('a', '')],
  })
  t.like(body.messages[1]?.content, [use('a')])
  t.deepEqual(dropped, ['input.encrypted_content'])
})

test('responses request: custom tools take one text, tools of a namespace its name', (t) => {
  const { body, dropped } = messagesOf({
    input: [
      user('go'),
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
      { ...called('b', 'read'), namespace: 'mcp__files' },
      output('b', 'text'),
    ],
    tools: [
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      {
        type: 'namespace',
        name: 'mcp__files',
        tools: [{ type: 'function', name: 'read', parameters: { properties: {} } }],
      },
    ],
  })
  t.like(body.messages[1]?.content, [{ name: 'apply_patch', input: { input: '*** Begin' } }])
  t.like(body.messages[3]?.content, [{ name: 'mcp__files__read' }])
  t.like(body.tools, [
    { name: 'apply_patch', description: 'Edits.\n\nThe input must match this lark grammar:\nstart: "x"' },
    { name: 'mcp__files__read', input_schema: { type: 'object', properties: {} } },
  ])
  t.deepEqual(dropped, [])
})

test('responses request: tools among the items are tools of the request', (t) => {
  const tools = [{ type: 'function', name: 'shell' }]
  const { body } = messagesOf({ input: [{ type: 'additional_tools', role: 'developer', tools }, user('go')] })
  t.like(body.tools, [{ name: 'shell' }])
})

test('responses request: allowed tools are the only ones, and the choice stays', (t) => {
  const tools = ['a', 'b', 'c'].map((name) => ({ type: 'function', name }))
  const allowed = { type: 'allowed_tools', mode: 'required', tools: [tools[0], tools[2]] }
  const { body } = messagesOf({ input: 'hi', tools, tool_choice: allowed, parallel_tool_calls: false })
  t.deepEqual(
    body.tools?.map(({ name }) => name),
    ['a', 'c'],
  )
  t.deepEqual(body.tool_choice, { type: 'any', disable_parallel_tool_use: true })
})

test('responses request: a search of the web is the provider’s own, and one without the web is dropped', (t) => {
  const search = {
    type: 'web_search',
    filters: { allowed_domains: ['a.example'] },
    user_location: { type: 'approximate', city: 'Oslo', country: null },
  }
  const { body } = messagesOf({ input: 'hi', tools: [search] })
  const user_location = { type: 'approximate', city: 'Oslo' }
  t.deepEqual(body.tools, [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5, allowed_domains: ['a.example'], user_location },
  ])
  const limited = messagesOf({ input: 'hi', tools: [search], max_tool_calls: 2 })
  t.like(limited.body.tools, [{ max_uses: 2 }])
  t.deepEqual(limited.dropped, [])
  t.is(messagesOf({ input: 'hi', tools: [search], max_tool_calls: 0 }).body.tools, undefined)
  const cached = messagesOf({ input: 'hi', tools: [{ ...search, external_web_access: false }] })
  t.is(cached.body.tools, undefined)
  t.deepEqual(cached.dropped, ['tools.web_search'])
  for (const model of ['gpt-4o', 'claude-3-haiku-20240307']) {
    const elsewhere = messagesOf({ model, input: 'hi', tools: [search] })
    t.is(elsewhere.body.tools, undefined)
    t.deepEqual(elsewhere.dropped, ['tools.web_search'])
  }
})

test('responses request: reasoning, format and limits have their counterparts', (t) => {
  const schema = { type: 'object', properties: {} }
  const { body, dropped, assumed } = messagesOf({
    model: 'claude-opus-4-6',
    input: 'hi',
    max_output_tokens: 500,
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'x', schema, strict: true }, verbosity: 'low' },
    include: ['reasoning.encrypted_content'],
    store: false,
    stream_options: { include_obfuscation: false },
    prompt_cache_key: 'session',
    safety_identifier: 'u1',
  })
  t.like(body, { max_tokens: 500, thinking: { type: 'adaptive' }, metadata: { user_id: 'u1' } })
  t.deepEqual(body.output_config, { effort: 'high', format: { type: 'json_schema', schema } })
  t.deepEqual(dropped, ['text.verbosity', 'prompt_cache_key'])
  t.deepEqual(assumed, [])
})

test('responses request: the highest effort of OpenAI is the highest elsewhere', (t) => {
  const { body } = messagesOf({ model: 'claude-opus-4-6', input: 'hi', reasoning: { effort: 'ultra' } })
  t.deepEqual(body.output_config, { effort: 'max' })
})

test('responses request: a model that thinks in turns with tools goes on thinking', (t) => {
  const thought = { type: 'reasoning', summary: [], encrypted_content: 'messages-thinking:c2ln' }
  const asked = { reasoning: { effort: 'low' }, max_output_tokens: 9000 }
  const going = messagesOf({ ...asked, input: [user('go'), thought, called('a'), output('a', 'x')] })
  t.deepEqual(going.body.thinking, { type: 'enabled', budget_tokens: 2048 })
  const begun = messagesOf({ ...asked, input: [user('go'), called('a'), output('a', 'x')] })
  t.is(begun.body.thinking, undefined)
  t.deepEqual(begun.dropped, ['reasoning'])
})

for (const [field, value] of [
  ['previous_response_id', 'resp_1'],
  ['conversation', 'conv_1'],
  ['prompt', { id: 'pmpt_1' }],
  ['background', true],
  ['top_logprobs', 5],
  ['context_management', [{ type: 'compaction' }]],
  ['tool_choice', { type: 'function', name: 'absent' }],
] as const) {
  test(`responses request: ${field} is refused by its name`, (t) => {
    t.true(messagesOf({ input: 'hi', [field]: value }).refused[0]?.startsWith(`${field}: `))
  })
}

for (const [what, item] of [
  ['a reference to a stored item', { type: 'item_reference', id: 'msg_1' }],
  ['a compaction', { type: 'compaction', encrypted_content: 'x' }],
  ['a request to compact', { type: 'compaction_trigger' }],
  ['a call of a shell of the provider', { type: 'local_shell_call', call_id: 'a' }],
  ['an unknown item', { type: 'novel' }],
] as const) {
  test(`responses request: ${what} is refused at its place`, (t) => {
    t.true(messagesOf({ input: [user('hi'), item] }).refused[0]?.startsWith('input[1]: '))
  })
}

for (const [what, fields, message] of [
  ['an input that is a number', { input: 5 }, /input: expected/],
  ['no message', { input: [] }, /input: expected at least one/],
  ['a role of no one', { input: [{ role: 'tool', content: '' }] }, /input\[0\]\.role/],
  [
    'arguments that are no text',
    { input: [user('x'), { ...called('a'), arguments: {} }] },
    /input\[1\]\.arguments: expected/,
  ],
  ['a format of another type', { input: 'x', text: { format: { type: 'xml' } } }, /text\.format\.type/],
  ['an effort of another name', { input: 'x', reasoning: { effort: 'huge' } }, /reasoning\.effort/],
  ['tools that are no list', { input: 'x', tools: {} }, /tools: expected/],
] as const) {
  test(`responses request: ${what} is invalid, and named`, (t) => {
    t.throws(() => messagesOf(fields), { code: 'invalid_request', message })
  })
}

test('responses request: provider’s own tools and their calls are dropped where the model can do without', (t) => {
  const { dropped, refused } = messagesOf({
    input: [user('x'), { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }],
    tools: [{ type: 'image_generation' }, { type: 'tool_search', execution: 'client', description: null }],
  })
  t.deepEqual(dropped, ['input.web_search_call', 'tools.image_generation', 'tools.tool_search'])
  t.deepEqual(refused, [])
})
