import test from 'ava'
import { namedModels, targetsWithNamed } from './named-models.ts'
import { RequestDocument } from './request.ts'

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
