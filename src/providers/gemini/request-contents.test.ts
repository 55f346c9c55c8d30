import test from 'ava'
import { RequestDocument } from '../../core/request/request.ts'
import { toGeminiRequest } from './request.ts'

function translate(messages: unknown, model = 'gemini-2.5-flash', more: Record<string, unknown> = {}) {
  const text = typeof messages === 'string' ? messages : JSON.stringify({ messages, ...more })
  const { bytes, droppedFields } = toGeminiRequest(new RequestDocument(Buffer.from(text)), { model, assumed: [] })
  return { text: bytes.toString(), ...JSON.parse(bytes.toString()), droppedFields }
}

const user = (...content: unknown[]) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words })
const use = (id: string, name = 'f', input = {}) => ({ type: 'tool_use', id, name, input })
const result = (tool_use_id: string, content: unknown = 'ok', more = {}) => ({
  type: 'tool_result',
  tool_use_id,
  content,
  ...more,
})
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
const linked = (type: string, url: string) => ({ type, source: { type: 'url', url } })

test('gemini contents: consecutive messages of one role become one turn', (t) => {
  const { contents } = translate([user(text('a')), { role: 'user', content: 'b' }, assistant(text('c'))])
  t.deepEqual(contents, [
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    { role: 'model', parts: [{ text: 'c' }] },
  ])
})

test('gemini contents: an empty turn does not separate its neighbours', (t) => {
  const foreign = { type: 'thinking', thinking: 'x', signature: 'EqQB' }
  const { contents } = translate([user(text('a')), assistant(foreign), user(text('b'))])
  t.deepEqual(contents, [{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }])
})

test('gemini contents: empty texts are left out, because the provider refuses them', (t) => {
  const messages = [user(text(''), text('a')), assistant(text('')), { role: 'user', content: '' }]
  t.deepEqual(translate(messages).contents, [{ role: 'user', parts: [{ text: 'a' }] }])
})

test('gemini contents: before a conversation that begins with the model there is a turn of the user', (t) => {
  const { contents } = translate([assistant(use('a')), user(result('a'))])
  t.deepEqual(
    contents.map(({ role }: { role: string }) => role),
    ['user', 'model', 'user'],
  )
})

test('gemini contents: tool inputs keep their exact text', (t) => {
  const input = '{ "n": 1.0, "big": 9007199254740993, "10": 1, "2": "\\u00e9", "é": "漢" }'
  const body = `{"messages":[{"role":"assistant","content":[{"input":${input},"type":"tool_use","id":"a","name":"f"}]}]}`
  t.true(translate(body).text.includes(`"args":${input}`))
})

test('gemini contents: system prompts and later ones make one instruction', (t) => {
  const messages = [{ role: 'system', content: 'b' }, user(text('hi')), { role: 'system', content: [text('c')] }]
  const { contents, systemInstruction, droppedFields } = translate(messages, undefined, { system: 'a' })
  t.deepEqual(systemInstruction, { parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
  t.is(contents.length, 1)
  t.deepEqual(droppedFields.dropped, ['messages.role'])
})

test('gemini contents: cache_control is reported for every place where it occurs', (t) => {
  const cache_control = { type: 'ephemeral' }
  const marked = { ...text('a'), cache_control }
  const messages = [user(marked), assistant(use('a')), user(result('a', [marked], { cache_control }))]
  const { droppedFields } = translate(messages, undefined, { system: [marked], cache_control })
  t.deepEqual(droppedFields.dropped, [
    'cache_control',
    'system.cache_control',
    'messages.content.cache_control',
    'messages.content.content.cache_control',
  ])
})

test('gemini contents: results are named after their calls', (t) => {
  const messages = [user(text('go')), assistant(use('a'), use('b', 'g')), user(result('b', 'B'), result('a', 'A'))]
  t.deepEqual(translate(messages).contents[2].parts, [
    { functionResponse: { id: 'b', name: 'g', response: { result: 'B' } } },
    { functionResponse: { id: 'a', name: 'f', response: { result: 'A' } } },
  ])
})

test('gemini contents: the result of an unknown call is refused by its path', (t) => {
  const { droppedFields } = translate([user(result('nobody'))])
  t.regex(droppedFields.refused[0] ?? '', /^messages\[0\]\.content\[0\]\.tool_use_id: /)
})

test('gemini contents: errors, several texts and no text are distinct', (t) => {
  const results = [
    result('a', 'bad', { is_error: true }),
    result('b', [text('1'), text('2')]),
    { type: 'tool_result', tool_use_id: 'c' },
  ]
  const { contents } = translate([user(text('go')), assistant(use('a'), use('b'), use('c')), user(...results)])
  t.deepEqual(
    contents[2].parts.map((part: { functionResponse: { response: unknown } }) => part.functionResponse.response),
    [{ error: 'bad' }, { result: ['1', '2'] }, { result: '' }],
  )
})

test('gemini contents: images of results follow the responses before generation 3', (t) => {
  const messages = [user(text('go')), assistant(use('a'), use('b')), user(result('a', [png]), result('b'), text('so?'))]
  const kinds = translate(messages).contents[2].parts.map((part: object) => Object.keys(part)[0])
  t.deepEqual(kinds, ['functionResponse', 'functionResponse', 'inlineData', 'text'])
})

test('gemini contents: images of results are inside the response from generation 3 on', (t) => {
  const messages = [user(text('go')), assistant(use('a')), user(result('a', [text('see'), png]))]
  t.deepEqual(translate(messages, 'gemini-3-pro').contents[2].parts, [
    {
      functionResponse: {
        id: 'a',
        name: 'f',
        response: { result: 'see' },
        parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }],
      },
    },
  ])
})

test('gemini contents: documents become data, files or text', (t) => {
  const content = [
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'T' },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, context: 'C' },
    { type: 'document', source: { type: 'content', content: [text('inner'), png] } },
    linked('document', 'https://example.com/report'),
    linked('image', 'https://example.com/a.JPEG?size=1'),
  ]
  t.deepEqual(translate([user(...content)]).contents[0].parts, [
    { text: 'T' },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
    { text: 'C' },
    { text: 'words' },
    { text: 'inner' },
    { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/report' } },
    { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a.JPEG?size=1' } },
  ])
})

test('gemini contents: sources that the provider cannot read are refused by their path', (t) => {
  const content = [
    linked('image', 'http://example.com/a.png'),
    linked('image', 'https://example.com/image'),
    { type: 'image', source: { type: 'file', file_id: 'x' } },
  ]
  const { droppedFields } = translate([user(text('see'), ...content)])
  t.deepEqual(
    droppedFields.refused.map((line: string) => line.split(': ')[0]),
    [1, 2, 3].map((index) => `messages[0].content[${index}].source`),
  )
})

test('gemini contents: blocks without an equivalent are refused by their path', (t) => {
  const messages = [
    user({ type: 'search_result', content: [] }, use('x')),
    assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, png),
    { role: 'system', content: [png] },
  ]
  t.deepEqual(
    translate(messages).droppedFields.refused.map((line: string) => line.split(': ')[0]),
    [
      'messages[0].content[0]',
      'messages[0].content[1]',
      'messages[1].content[0]',
      'messages[1].content[1]',
      'messages[2].content[0]',
    ],
  )
})

test('gemini contents: thinking of other providers is dropped by name', (t) => {
  const messages = [
    user(text('a')),
    assistant(
      { type: 'thinking', thinking: 'x', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'x' },
      text('b'),
    ),
  ]
  t.deepEqual(translate(messages).droppedFields.dropped, [
    'messages.content.thinking',
    'messages.content.redacted_thinking',
  ])
})

const carrier = (signature: string) => ({ type: 'thinking', thinking: '', signature })

test('gemini contents: a carried signature returns to its call', (t) => {
  const messages = [
    user(text('a')),
    assistant(carrier('gemini:c2ln+/='), use('x'), use('y')),
    user(result('x'), result('y')),
  ]
  const { contents, droppedFields } = translate(messages, 'gemini-3-pro')
  t.deepEqual(
    contents[1].parts.map(({ thoughtSignature }: { thoughtSignature?: string }) => thoughtSignature),
    ['c2ln+/=', undefined],
  )
  t.deepEqual(droppedFields.dropped, [])
})

test('gemini contents: a carried signature returns to the text before it', (t) => {
  const { contents } = translate([user(text('a')), assistant(text('b'), carrier('gemini-text:c2ln'))])
  t.deepEqual(contents[1].parts, [{ text: 'b', thoughtSignature: 'c2ln' }])
})

test('gemini contents: a signature that came without a text returns without one', (t) => {
  const { contents } = translate([user(text('a')), assistant(use('x'), carrier('gemini-text:c2ln')), user(result('x'))])
  t.deepEqual(contents[1].parts[1], { text: '', thoughtSignature: 'c2ln' })
})

test('gemini contents: the first call of each step of the current turn is marked when it has no signature', (t) => {
  const messages = [
    user(text('a')),
    ...[assistant(use('old')), user(result('old'))],
    user(text('b')),
    ...[assistant(text('hm'), use('x'), use('y')), user(result('x'), result('y'), text('and'))],
    ...[assistant(use('z')), user(result('z'))],
  ]
  const marks = (model: string) =>
    translate(messages, model).contents.flatMap(({ parts }: { parts: Record<string, unknown>[] }) =>
      parts.flatMap((part) => (part.functionCall ? [part.thoughtSignature !== undefined] : [])),
    )
  // The message with both a response and a text does not begin a turn, nor does the one that was merged into responses.
  t.deepEqual(marks('gemini-3-pro-preview'), [true, true, false, true])
  t.deepEqual(marks('gemini-2.5-pro'), [false, false, false, false])
})

test('gemini contents: calls before the current turn are left as they are', (t) => {
  const messages = [
    ...[user(text('a')), assistant(use('old')), user(result('old')), assistant(text('done'))],
    ...[user(text('b')), assistant(use('x')), user(result('x'))],
  ]
  const { contents } = translate(messages, 'gemini-3-pro')
  t.is(contents[1].parts[0].thoughtSignature, undefined)
  t.is(contents[5].parts[0].thoughtSignature, 'skip_thought_signature_validator')
})
