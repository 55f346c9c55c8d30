import test from 'ava'
import { GatewayError } from '../errors.ts'
import { DroppedFields } from './dropped-fields.ts'
import { namedModels, targetsWithNamed } from './named-models.ts'
import { RequestDocument } from './request.ts'
import { refuseServerSideThread } from './server-side-thread.ts'

const request = new RequestDocument(
  Buffer.from(
    '{"model":"m","messages": [ {"role":"user","content":"\\u00e9"},{"content":[ {"type":"text", "text":"a"}, 1.0 ]}],"system":null}',
  ),
)

const paths: [path: (string | number)[], raw: string | undefined][] = [
  [['model'], '"m"'],
  [['messages', 0, 'content'], '"\\u00e9"'],
  [['messages', 1], '{"content":[ {"type":"text", "text":"a"}, 1.0 ]}'],
  [['messages', 1, 'content', 0, 'text'], '"a"'],
  [['messages', 1, 'content', 1], '1.0'],
  [['messages', 2], undefined],
  [['messages', 0, 'content', 0], undefined],
  [['messages', 0, 'nothing', 'below'], undefined],
  [['system', 0], undefined],
  [['tools', 0], undefined],
  [[], undefined],
]
for (const [path, raw] of paths) {
  test(`request: the bytes at /${path.join('/')} are ${raw ?? 'nowhere'}`, (t) => {
    t.is(request.rawAt(path)?.toString(), raw)
  })
}

test('request: a message that was read alone is not parsed again with all others', (t) => {
  const history = new RequestDocument(
    Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}'),
  )
  const last = history.message(1)
  t.deepEqual(last, { role: 'assistant', content: 'b' })
  t.is(history.messages[1], last)
  t.is(history.messages.length, 2)
  t.true(history.messages.includes(history.message(0)))
  t.throws(() => history.message(2), { instanceOf: RangeError, message: 'no message 2 of 2' })
})

const MANY = 200_000

test('dropped fields: 24 fields at most are named, and the rest is mentioned', (t) => {
  const droppedFields = new DroppedFields()
  for (let i = 0; i < MANY; i++) droppedFields.drop(`field_${i}`)
  t.is(droppedFields.dropped.length, 25)
  t.is(droppedFields.dropped.at(-1), '...')
  for (let i = 0; i < MANY; i++) droppedFields.refuse(`messages[${i}]`, 'no place')
  t.is(droppedFields.refused.length, 24)
  const error = t.throws(() => droppedFields.assertCarried('p'), { message: /no place; and more\.$/ })
  t.true((error?.message ?? '').length < 1000)
})

test('dropped fields: a merge mentions unnamed fields, too', (t) => {
  const droppedFields = new DroppedFields()
  for (let i = 0; i < MANY; i++) droppedFields.refuse(`messages[${i}]`, 'no place')
  for (let i = 0; i < MANY; i++) droppedFields.drop(`field_${i}`)
  const taken = new DroppedFields()
  taken.add(droppedFields.about(new Set(['messages'])))
  t.deepEqual(taken.dropped, ['...'])
  t.throws(() => taken.assertCarried('p'), { message: /and more/ })
})

const namesIn = (body: object) =>
  namedModels(new RequestDocument(Buffer.from(JSON.stringify({ model: 'asked', ...body }))))
const schema = { type: 'object', properties: { model: { type: 'string' } }, examples: [{ model: 'no name' }] }

test('named models: a Responses body names none in its items, metadata and functions’ parameters', (t) => {
  const input = [
    { type: 'custom_tool_call', call_id: 'a', name: 'run', input: '{"model":"no name"}', model: 'no name' },
  ]
  const tool = { type: 'function', name: 'buy', parameters: schema }
  const tools = [tool, { type: 'namespace', name: 'files', tools: [tool] }]
  t.deepEqual(namesIn({ input, tools, client_metadata: { model: 'no name' }, text: { format: { schema } } }), [])
  t.deepEqual(namesIn({ input, tools: [{ type: 'advisor', model: 'a', parameters: { model: 'b' } }] }), ['a', 'b'])
  t.deepEqual(namesIn({ input, plugins: [{ type: 'function', parameters: { model: 'a' }, input: { model: 'b' } }] }), [
    'a',
    'b',
  ])
})

test('named models: tools of a Responses body name none for a provider that gets a translation', (t) => {
  const image = { type: 'image_generation', model: 'gpt-image-1' }
  const named = (target: object, body: object) => {
    const document = new RequestDocument(Buffer.from(JSON.stringify({ model: 'asked', tools: [image], ...body })))
    return targetsWithNamed([{ provider: 'p', model: 'asked', ...target }], document).map(({ model }) => model)
  }
  const translating = { translatesResponses: true }
  t.deepEqual(named(translating, { input: 'hi' }), ['asked'])
  t.deepEqual(named(translating, { input: 'hi', fallbacks: ['dear'] }), ['asked', 'dear'])
  t.deepEqual(named(translating, { messages: [] }), ['asked', 'gpt-image-1'])
  t.deepEqual(named({}, { input: 'hi' }), ['asked', 'gpt-image-1'])
})

test('named models: a chat body names none in its functions, and all in members of the same names elsewhere', (t) => {
  const messages = [{ role: 'user', content: 'hi', model: 'no name' }]
  const tools = [{ type: 'function', function: { name: 'buy', parameters: schema } }]
  t.deepEqual(namesIn({ messages, tools, functions: [{ parameters: schema }], metadata: { model: 'no name' } }), [])
  for (const name of ['parameters', 'input', 'metadata', 'function', 'messages', 'client_metadata', 'prediction'])
    t.deepEqual(namesIn({ messages, plugins: [{ type: 'function', [name]: { model: 'dear' } }] }), ['dear'], name)
})

test('named models: members count in any case', (t) => {
  const plugins = [{ advisor_MODEL: 'a', own_Fallbacks: ['b'], Router_Models: ['c', { name: 'no name' }] }]
  t.deepEqual(namesIn({ messages: [], plugins, second_Model: 'd' }), ['a', 'b', 'c', 'd'])
})

const withThread = (thread: unknown) => new RequestDocument(Buffer.from(JSON.stringify({ thread, messages: [] })))

for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
  test(`chat request: a thread that is to ${thread.type} is refused with the detail that SDKs continue from`, (t) => {
    const error = t.throws(() => refuseServerSideThread(withThread(thread)), { instanceOf: GatewayError })
    t.is(error?.status, 400)
    t.like(error?.toBody().error, { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } })
  })
}

test('chat request: no thread, or null for one, is not refused', (t) => {
  t.notThrows(() => refuseServerSideThread(withThread(undefined)))
  t.notThrows(() => refuseServerSideThread(withThread(null)))
})
