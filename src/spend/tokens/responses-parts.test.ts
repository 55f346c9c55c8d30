import test from 'ava'
import { RequestDocument } from '../../core/request/request.ts'
import { TokenEstimator } from './token-estimator.ts'

const WORDS = 'The keeper of the road counts each carriage, and writes down what was paid for it. '.repeat(40)
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function tokensOf(body: object, dialect: 'chat' | 'responses' = 'responses'): number {
  const document = new RequestDocument(Buffer.from(JSON.stringify({ model: 'gpt-4o', ...body })))
  return new TokenEstimator().inputTokens(document, 'gpt-4o', dialect)
}

const LEAST = tokensOf({ input: 'x' })
const OF_WORDS = tokensOf({ input: WORDS }) - LEAST

test('tokens of responses: a text counts as in chat completions', (t) => {
  const chat = tokensOf({ messages: [{ role: 'user', content: WORDS }] }, 'chat')
  t.true(Math.abs(tokensOf({ input: WORDS }) - chat) < 10)
})

for (const [where, body] of Object.entries({
  instructions: { instructions: WORDS, input: 'x' },
  'a message': { input: [{ role: 'user', content: [{ type: 'input_text', text: WORDS }] }] },
  'a result': { input: [{ type: 'function_call_output', call_id: 'c', output: WORDS }] },
  'a custom call': { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'p', input: WORDS }] },
  arguments: { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: WORDS }] },
  'a summary': { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: WORDS }] }] },
  'a tool': { input: 'x', tools: [{ type: 'function', name: 'f', description: WORDS }] },
  'a tool of a namespace': {
    input: 'x',
    tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', description: WORDS }] }],
  },
  'an item with tools': { input: [{ type: 'additional_tools', tools: [{ type: 'custom', description: WORDS }] }] },
  'an unknown item': { input: [{ type: 'novel', novel: WORDS }] },
  'an unknown field': { input: 'x', novel: WORDS },
})) {
  test(`tokens of responses: no text is free: ${where}`, (t) => {
    t.true(tokensOf(body) >= LEAST + OF_WORDS, `${tokensOf(body)} of ${OF_WORDS}`)
  })
}

test('tokens of responses: an image counts by its size, a setting not at all', (t) => {
  const image = tokensOf({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: PIXEL.repeat(50) }] }] })
  t.true(image < OF_WORDS * 3, String(image))
  t.is(tokensOf({ input: 'x', store: false, prompt_cache_key: 'session', metadata: { a: WORDS } }), LEAST)
})
