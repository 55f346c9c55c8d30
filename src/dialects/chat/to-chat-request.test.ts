import test from 'ava'
import { COMPATIBLE, chatOf, chatOfMessages, OPENAI } from '../../../test/support/chat-translation.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const text = (text: string) => ({ type: 'text', text })
const toolUse = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'f', input })
const result = (id: string, content?: unknown, extra: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...extra,
})
const PIXEL = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const PIXEL_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
const MARK = { cache_control: { type: 'ephemeral' } }

/** Returns the parts of one block of a user's message, beside a text. */
function partsOf(block: object) {
  const { body, dropped, refused } = chatOfMessages([user([text('t'), block])])
  const { content } = (body.messages as { content: unknown }[])[0] ?? {}
  return { parts: Array.isArray(content) ? content.slice(1) : [], dropped, refused }
}

test('to chat: system text comes first, in the provider’s role for it', (t) => {
  const system = [text('a'), { ...text('b'), ...MARK }]
  const { body, dropped } = chatOfMessages([user('q')], { system }, OPENAI)
  t.deepEqual(body.messages, [{ role: 'developer', content: 'a\n\nb' }, user('q')])
  t.deepEqual(dropped, ['system.cache_control'])
})

test('to chat: a system turn stays in its place', (t) => {
  const turns = [user('q'), { role: 'system', content: [text('s')] }, user('r')]
  t.deepEqual(chatOfMessages(turns).body.messages, [user('q'), { role: 'system', content: 's' }, user('r')])
})

test('to chat: one text block is a string, several are parts', (t) => {
  const { body } = chatOfMessages([user([text('a')]), user([text('a'), text('b')]), user([PIXEL])])
  t.deepEqual(body.messages, [user('a'), user([text('a'), text('b')]), user([PIXEL_PART])])
})

test('to chat: documents become a file or text', (t) => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }
  const file = (filename: string) => ({
    type: 'file',
    file: { filename, file_data: 'data:application/pdf;base64,JVBE' },
  })
  t.deepEqual(partsOf({ type: 'document', source: pdf }).parts, [file('document.pdf')])
  const titled = { type: 'document', source: pdf, title: 'a.pdf', context: 'c', citations: { enabled: true } }
  t.deepEqual(partsOf(titled), {
    parts: [text('c'), file('a.pdf')],
    dropped: ['messages.content.citations'],
    refused: [],
  })
  const plain = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' }, title: 'n' }
  t.deepEqual(partsOf(plain).parts, [text('n\nd')])
  const content = { type: 'document', source: { type: 'content', content: [text('x'), text('y')] } }
  t.deepEqual(partsOf(content).parts, [text('x'), text('y')])
})

test('to chat: a search result becomes text with its title and source', (t) => {
  const found = { type: 'search_result', title: 'n', source: 'https://x', content: [text('y'), text('z')] }
  t.deepEqual(partsOf(found).parts, [text('n\nhttps://x\ny\nz')])
})

for (const block of [
  { type: 'image', source: { type: 'file', file_id: 'f' } },
  { type: 'document', source: { type: 'url', url: 'https://x/a.pdf' } },
  { type: 'container_upload', file_id: 'f' },
  { type: 'novel' },
]) {
  test(`to chat: a user's ${JSON.stringify(block)} is refused by its path`, (t) => {
    t.regex(partsOf(block).refused[0] ?? '', /^messages\[0\]\.content\[1\]: /)
  })
}

test('to chat: tool results become tool messages before the rest of the turn', (t) => {
  const turn = user([text('go on'), result('a', 'x'), result('b', [text('1'), text('2')]), result('c')])
  const tool = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
  t.deepEqual(chatOfMessages([turn]).body.messages, [tool('a', 'x'), tool('b', '1\n2'), tool('c', ''), user('go on')])
})

test('to chat: a failed tool result is marked in its text, once', (t) => {
  const failed = { is_error: true }
  const turn = user([result('a', 'x', failed), result('b', 'Error: y', failed), result('c', 'z', { is_error: false })])
  const contents = (chatOfMessages([turn]).body.messages as { content: string }[]).map(({ content }) => content)
  t.deepEqual(contents, ['Error: x', 'Error: y', 'z'])
})

test('to chat: images of tool results follow all tool messages', (t) => {
  const turn = user([result('a', [PIXEL]), result('b', [text('x'), PIXEL]), text('look')])
  t.deepEqual(chatOfMessages([turn]).body.messages, [
    { role: 'tool', tool_call_id: 'a', content: '(see the attachment that follows)' },
    { role: 'tool', tool_call_id: 'b', content: 'x' },
    user([
      text('Attachment of tool result a:'),
      PIXEL_PART,
      text('Attachment of tool result b:'),
      PIXEL_PART,
      text('look'),
    ]),
  ])
})

test('to chat: a tool reference in a result is the tool’s name', (t) => {
  const turn = user([result('a', [{ type: 'tool_reference', tool_name: 'find' }])])
  t.like(chatOfMessages([turn]).body.messages, [{ role: 'tool', content: 'find' }])
})

test('to chat: text and calls of the assistant are one message', (t) => {
  const { body } = chatOfMessages([
    assistant([text('a'), text('b'), toolUse('1', { x: 1 })]),
    assistant([toolUse('2')]),
  ])
  const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } })
  t.deepEqual(body.messages, [
    { role: 'assistant', content: 'ab', tool_calls: [call('1', '{"x":1}')] },
    { role: 'assistant', content: null, tool_calls: [call('2', '{}')] },
  ])
})

test('to chat: a tool input keeps its exact text', (t) => {
  const input = '{ "n":1.0,"big":9007199254740993,"10":1,"2":2,"e":"\\u00e9\\/\\"é" }'
  const block = `{"\\u0069nput":${input},"type":"tool_use","id":"a","name":"f"}`
  const { body } = chatOf(`{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[${block}]}]}`)
  const [message] = body.messages as { tool_calls: { function: { arguments: string } }[] }[]
  t.is(message?.tool_calls[0]?.function.arguments, input)
})

test('to chat: thinking is sent where the provider accepts it, and dropped elsewhere', (t) => {
  const turn = assistant([
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'd' },
    text('a'),
  ])
  const carried = chatOfMessages([turn])
  t.deepEqual(carried.body.messages, [{ role: 'assistant', content: 'a', reasoning_content: 'hm' }])
  t.deepEqual([...carried.dropped].sort(), ['messages.content.redacted_thinking', 'messages.content.signature'])
  const dropped = chatOfMessages([turn, user('q')], {}, OPENAI)
  t.deepEqual((dropped.body.messages as unknown[])[0], { role: 'assistant', content: 'a' })
  t.deepEqual([...dropped.dropped].sort(), ['messages.content.redacted_thinking', 'messages.content.thinking'])
})

for (const type of ['server_tool_use', 'web_search_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'compaction']) {
  test(`to chat: the assistant's ${type} is refused by its path`, (t) => {
    const { refused } = chatOfMessages([assistant([text('a'), { type, id: 'x' }])])
    t.deepEqual(refused, [`messages[0].content[1]: this provider has no equivalent of ${type}`])
  })
}

test('to chat: a prefilled answer is refused by OpenAI and passes elsewhere', (t) => {
  const turns = [user('q'), assistant('The answer is')]
  t.regex(chatOfMessages(turns, {}, OPENAI).refused[0] ?? '', /^messages\[1\]: /)
  const { body, refused } = chatOfMessages(turns, {}, COMPATIBLE)
  t.deepEqual([body.messages, refused], [turns, []])
})

test('to chat: cache marks are dropped and reported once', (t) => {
  const turns = [
    user([
      { ...text('a'), ...MARK },
      { ...PIXEL, ...MARK },
    ]),
    user([{ ...result('a', 'x'), ...MARK }]),
  ]
  t.deepEqual(chatOfMessages(turns).dropped, ['messages.content.cache_control'])
})
