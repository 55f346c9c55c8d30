/** Arbitraries of Messages requests that keep the rules of a conversation, for tests of the translation to Gemini. */
import fc from 'fast-check'
import type { JsonObject } from '../json.ts'
import { signatureOf } from './script.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed())
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 })
const mark = fc.constantFrom(undefined, undefined, null, { type: 'ephemeral' })

const text = fc.record({ type: fc.constant('text'), text: fc.oneof(words, fc.constant('')), cache_control: mark })
const base64 = fc.record({
  type: fc.constant('base64'),
  media_type: fc.constantFrom('image/png', 'image/jpeg', 'image/webp'),
  data: fc.constantFrom('aGVsbG8=', 'iVBORw0KGgo='),
})
const address = fc.constantFrom('https://example.com/a.png', 'https://example.com/b/c.JPG?x=1')
const image = fc.record({
  type: fc.constant('image'),
  source: fc.oneof(base64, fc.record({ type: fc.constant('url'), url: address })),
})
const document = fc.record({
  type: fc.constant('document'),
  source: fc.oneof(
    fc.constant({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }),
    fc.record({ type: fc.constant('text'), media_type: fc.constant('text/plain'), data: words }),
  ),
  title: optional(words),
})
const thinking = fc.record({
  type: fc.constant('thinking'),
  thinking: words,
  signature: fc.constantFrom('', 'EqQBCg==', `gemini:${signatureOf('call')}`, `gemini-text:${signatureOf('text')}`),
})
const toolName = fc.constantFrom('get_weather', 'search', 'a-b', '_x')
const input = fc.dictionary(words, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const result = fc.record({
  content: fc.oneof(words, fc.constant(undefined), fc.array(fc.oneof(text, image), { maxLength: 3 })),
  is_error: optional(fc.boolean()),
})

interface Step {
  readonly before: readonly JsonObject[]
  readonly calls: readonly { name: string; input: JsonObject; result: JsonObject; signed: JsonObject | undefined }[]
  readonly after: readonly JsonObject[]
}

const step: fc.Arbitrary<Step> = fc.record({
  before: fc.array(fc.oneof(text, thinking), { maxLength: 3 }),
  calls: fc.array(fc.record({ name: toolName, input, result, signed: optional(thinking) }), { maxLength: 3 }),
  after: fc.array(fc.oneof(text, image), { maxLength: 2 }),
})

/** Builds the assistant's message and the user's next one, whose results answer the calls. */
function toMessages({ before, calls, after }: Step, turn: number): JsonObject[] {
  const ids = calls.map((_, index) => `toolu_${turn}_${index}`)
  const uses = calls.flatMap(({ name, input: given, signed }, index) => [
    ...(signed === undefined ? [] : [signed]),
    { type: 'tool_use', id: ids[index], name, input: given },
  ])
  const results = calls.map(({ result: given }, index) => ({ type: 'tool_result', tool_use_id: ids[index], ...given }))
  const isSilent = before.length + uses.length === 0
  const answer = isSilent ? [] : [{ role: 'assistant', content: [...before, ...uses] }]
  const asked = [...results, ...after, { type: 'text', text: 'go on' }]
  return [...answer, { role: 'user', content: asked }]
}

const tools = fc.constant(
  ['get_weather', 'search', 'a-b', '_x'].map((name) => ({ name, input_schema: { type: 'object', properties: {} } })),
)

/** Messages requests with texts, media, thoughts, parallel calls and their results, all of which can be carried to Gemini. */
export const conversations: fc.Arbitrary<JsonObject> = fc
  .record({
    max_tokens: fc.integer({ min: 1, max: 64_000 }),
    first: fc.array(fc.oneof(text, image, document), { minLength: 1, maxLength: 3 }),
    steps: fc.array(step, { maxLength: 4 }),
    system: fc.oneof(fc.constantFrom(undefined, null), words, fc.array(text, { maxLength: 2 })),
    temperature: optional(fc.constantFrom(0, 0.5, 1)),
    stop_sequences: optional(fc.array(words, { maxLength: 5 })),
    thinking: fc.constantFrom(
      ...[undefined, null, { type: 'adaptive' }, { type: 'disabled' }],
      ...[1024, 9000, 31_999, 60_000].map((budget_tokens) => ({ type: 'enabled', budget_tokens })),
    ),
    output_config: fc.constantFrom(...[undefined, { effort: 'low' }, { effort: 'medium' }, { effort: 'max' }], {
      format: { type: 'json_schema', schema: { type: 'object' } },
    }),
    tool_choice: fc.constantFrom(undefined, { type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'search' }),
    metadata: optional(fc.constant({ user_id: 'u' })),
  })
  .chain(({ first, steps, ...fields }) =>
    tools.map((declared) => ({
      model: 'm',
      ...fields,
      tools: declared,
      messages: [{ role: 'user', content: 'hi' }, { role: 'user', content: first }, ...steps.flatMap(toMessages)],
    })),
  )
