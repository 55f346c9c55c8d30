import test from 'ava'
import { messagesOf, messagesOfChat } from '../../../test/support/chat-translation.ts'
import { valueAt } from '../../../test/support/json.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, extra: object = {}) => ({ role: 'assistant', content, ...extra })
const call = (id: string, args: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: args } })
const answer = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const text = (text: string) => ({ type: 'text', text })

/** Returns the blocks of one part of a user's message. */
function blocksOf(part: object) {
  const { body, dropped, refused } = messagesOfChat([user([part])])
  return { blocks: (body.messages as { content: unknown }[])[0]?.content, dropped, refused }
}

test('chat request: one plain system message becomes a string', (t) => {
  const { body, dropped } = messagesOfChat([{ role: 'system', content: 'Be brief.' }, user('hi')])
  t.is(body.system, 'Be brief.')
  t.deepEqual(body.messages, [user('hi')])
  t.deepEqual(dropped, [])
})

test('chat request: system and developer messages are hoisted in their order', (t) => {
  const marked = { ...text('b'), cache_control: { type: 'ephemeral' } }
  const { body } = messagesOfChat([
    { role: 'system', content: 'a' },
    user('hi'),
    { role: 'developer', content: [marked] },
  ])
  t.deepEqual(body.system, [text('a'), marked])
})

test('chat request: an image as a data URI becomes base64, a web address stays a URL', (t) => {
  const inline = blocksOf({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } })
  t.deepEqual(inline.blocks, [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }])
  t.deepEqual(inline.dropped, [])
  const remote = blocksOf({ type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } })
  t.deepEqual(remote.blocks, [{ type: 'image', source: { type: 'url', url: 'https://x/y.png' } }])
  t.deepEqual(remote.dropped, ['messages.content.image_url.detail'])
})

test('chat request: a PDF becomes a document with its name, plain text a text document', (t) => {
  const pdf = blocksOf({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } })
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
  t.deepEqual(pdf.blocks, [{ type: 'document', source, title: 'a.pdf' }])
  const plain = blocksOf({ type: 'file', file: { file_data: 'data:text/plain;charset=utf-8;base64,w6k=' } })
  t.deepEqual(plain.blocks, [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } }])
})

for (const [what, part, path] of [
  ['an uploaded file', { type: 'file', file: { file_id: 'f' } }, 'messages[0].content[0].file'],
  [
    'a file of another kind',
    { type: 'file', file: { file_data: 'data:a/b;base64,AA==' } },
    'messages[0].content[0].file',
  ],
  ['audio', { type: 'input_audio', input_audio: { data: '', format: 'wav' } }, 'messages[0].content[0]'],
  ['a part of an unknown kind', { type: 'video_url' }, 'messages[0].content[0]'],
  ['an image that is neither', { type: 'image_url', image_url: { url: 'ftp://x' } }, 'messages[0].content[0]'],
] as const) {
  test(`chat request: ${what} is refused by its path`, (t) => {
    const { refused } = blocksOf(part)
    t.is(refused.length, 1)
    t.true(refused[0]?.startsWith(`${path}: `), refused[0])
  })
}

test('chat request: a tool message becomes a tool_result', (t) => {
  const { body } = messagesOfChat([
    user('q'),
    assistant(null, { tool_calls: [call('a', '{"x":1}')] }),
    answer('a', 'r'),
  ])
  t.deepEqual(body.messages, [
    user('q'),
    assistant([{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }]),
    user([{ type: 'tool_result', tool_use_id: 'a', content: 'r' }]),
  ])
})

test('chat request: consecutive tool messages and the user message after them are one turn', (t) => {
  const calls = assistant('Look.', { tool_calls: [call('a', '{}'), call('b', '')] })
  const { body } = messagesOfChat([
    user('q'),
    calls,
    answer('a', '1'),
    answer('b', [text('2')]),
    user('go on'),
    user('!'),
  ])
  t.deepEqual((body.messages as unknown[]).slice(2), [
    user([
      { type: 'tool_result', tool_use_id: 'a', content: '1' },
      { type: 'tool_result', tool_use_id: 'b', content: [text('2')] },
      text('go on'),
    ]),
    user('!'),
  ])
})

test('chat request: a tool message after the text of its turn is moved before it', (t) => {
  const { body } = messagesOfChat([answer('a', '1'), user('text'), answer('b', '2')])
  t.deepEqual(body.messages, [
    user([
      { type: 'tool_result', tool_use_id: 'a', content: '1' },
      { type: 'tool_result', tool_use_id: 'b', content: '2' },
      text('text'),
    ]),
  ])
})

test('chat request: arguments keep their exact text, and empty ones are an empty object', (t) => {
  const args = ['{"n":1.0,"big":9007199254740993,"10":1,"2":2}', '{ "e":"\\u00e9\\/\\"" }', '', ' \n']
  const calls = args.map((text, index) => call(String(index), text))
  const { text } = messagesOfChat([
    user('q'),
    assistant('', { tool_calls: calls }),
    ...args.map((_, i) => answer(`${i}`, '')),
  ])
  t.true(text.includes(`"input":${args[0]}}`))
  t.true(text.includes(`"input":${args[1]}}`))
  t.is(text.split('"input":{}}').length, 3)
})

test('chat request: arguments that are no JSON object are a member of the input, as their text', (t) => {
  const deep = `{"a":${'['.repeat(300)}${']'.repeat(300)}}`
  for (const args of ['{', '{"a":"cut', '[1]', 'null', '"x"', '{}{}', '{"a":01}', deep]) {
    const { body } = messagesOfChat([user('q'), assistant('', { tool_calls: [call('a', args)] })])
    t.deepEqual(valueAt(body, 'messages.1.content.0.input'), { arguments: args })
  }
})

test('chat request: a legacy function call and its result are matched', (t) => {
  const { body } = messagesOfChat([
    user('q'),
    assistant(null, { function_call: { name: 'f', arguments: '{}' } }),
    { role: 'function', name: 'f', content: 'r' },
  ])
  const id = 'call_function_1'
  t.deepEqual((body.messages as unknown[]).slice(1), [
    assistant([{ type: 'tool_use', id, name: 'f', input: {} }]),
    user([{ type: 'tool_result', tool_use_id: id, content: 'r' }]),
  ])
})

test('chat request: an empty assistant message is left out', (t) => {
  const { body, dropped } = messagesOfChat([user('q'), assistant(null), assistant(''), assistant([]), user('r')])
  t.deepEqual(body.messages, [user('q'), user('r')])
  t.deepEqual(dropped, [])
})

test('chat request: a refusal is text of the assistant', (t) => {
  const { body } = messagesOfChat([
    user('q'),
    assistant(null, { refusal: 'No.' }),
    assistant([{ type: 'refusal', refusal: 'N' }]),
  ])
  t.deepEqual((body.messages as unknown[]).slice(1), [assistant('No.'), assistant('N')])
})

test('chat request: thinking, names and unknown members of messages are dropped and reported', (t) => {
  const { dropped, refused } = messagesOfChat([
    { ...user('q'), name: 'Ann' },
    assistant('a', { reasoning_content: 'hm', reasoning_details: [{}], annotations: [], audio: null, novel: 1 }),
  ])
  t.deepEqual([...dropped].sort(), ['messages.name', 'messages.novel', 'messages.reasoning_content'])
  t.deepEqual(refused, [])
})

test('chat request: an assistant message with audio is refused', (t) => {
  const { refused } = messagesOfChat([user('q'), assistant(null, { audio: { id: 'x' } })])
  t.regex(refused[0] ?? '', /^messages\[1\]\.audio: /)
})

test('chat request: a call of a custom tool is refused by its path', (t) => {
  const custom = { id: 'a', type: 'custom', custom: { name: 'f', input: 'x' } }
  t.regex(
    messagesOfChat([user('q'), assistant('', { tool_calls: [custom] })]).refused[0] ?? '',
    /^messages\[1\]\.tool_calls\[0\]: /,
  )
})

for (const [what, body, message] of [
  ['no messages', { model: 'm', messages: [] }, /^messages: /],
  ['no model', { messages: [user('q')] }, /^model: /],
  ['an unknown role', { model: 'm', messages: [{ role: 'bot', content: '' }] }, /^messages\[0\]\.role: /],
  ['content of a wrong kind', { model: 'm', messages: [user(5)] }, /^messages\[0\]\.content: expected string or array/],
  [
    'text that is missing',
    { model: 'm', messages: [user([{ type: 'text' }])] },
    /^messages\[0\]\.content\[0\]\.text: /,
  ],
  ['a result without its call', { model: 'm', messages: [{ role: 'tool', content: '' }] }, /tool_call_id/],
  ['a temperature out of range', { model: 'm', messages: [user('q')], temperature: 3 }, /^temperature: /],
  [
    'an effort that does not exist',
    { model: 'm', messages: [user('q')], reasoning_effort: 'huge' },
    /^reasoning_effort: /,
  ],
  ['no array of tools', { model: 'm', messages: [user('q')], tools: {} }, /^tools: /],
  [
    'a schema that is no object',
    { model: 'm', messages: [user('q')], tools: [{ function: { name: 'f', parameters: 5 } }] },
    /^tools\[0\]\.function\.parameters: /,
  ],
] as const) {
  test(`chat request: a body with ${what} is refused by the field's name`, (t) => {
    t.throws(() => messagesOf(body), { message, code: 'invalid_request' })
  })
}

test('chat request: a body that is not JSON is an invalid request', (t) => {
  t.throws(() => messagesOf('{"model":'), { code: 'invalid_request' })
  t.throws(() => messagesOf('[]'), { code: 'invalid_request' })
})
