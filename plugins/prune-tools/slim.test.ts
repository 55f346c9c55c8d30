import test from 'ava'
import fc from 'fast-check'
import { firstSentence, slimTool } from './slim.ts'

const slim = (text: string, lead?: string) => slimTool(Buffer.from(text), JSON.parse(text), lead).toString()

test('slim: removes prose, and keeps what a call needs byte for byte', (t) => {
  const before = `{ "name": "find", "description": "Finds things. Slowly.",
    "input_schema": {"type":"object", "title": "Find", "properties": {
      "id": {"type": "integer", "description": "Which one", "maximum": 9007199254740993, "multipleOf": 1.0},
      "10": {"enum": ["a", 1e5], "default": "a"}, "title": {"type": "string", "title": "Title"}},
      "required": ["id"], "additionalProperties": false } }`
  const after = `{ "name": "find", "description": "Finds things.",
    "input_schema": {"type":"object", "properties": {
      "id": {"type": "integer", "maximum": 9007199254740993, "multipleOf": 1.0},
      "10": {"enum": ["a", 1e5]}, "title": {"type": "string"}},
      "required": ["id"], "additionalProperties": false } }`
  t.is(slim(before), after)
})

test('slim: a parameter with the name of a prose member is kept', (t) => {
  const schema = { type: 'object', properties: { description: { type: 'string' }, default: { type: 'null' } } }
  const tool = JSON.stringify({ name: 'a', input_schema: schema })
  t.is(slim(tool), tool)
})

test('slim: a beginning that other tools share is skipped', (t) => {
  const tool = '{"name":"mean","description":"Part of the maths server. Mean of a list. Empty lists fail."}'
  t.is(slim(tool, 'Part of the maths server.'), '{"name":"mean","description":"Mean of a list."}')
  t.is(
    slim('{"name":"mean","description":"Part of it."}', 'Part of it.'),
    '{"name":"mean","description":"Part of it."}',
  )
})

for (const [text, expected] of [
  ['Reads a file. Fails when there is none.', 'Reads a file.'],
  ['Formats, e.g. Markdown. Not PDF.', 'Formats, e.g. Markdown.'],
  ['Speaks v2.0 of the protocol. Not v1.', 'Speaks v2.0 of the protocol.'],
  ['Get the news\n\nArguments: none', 'Get the news'],
  ['Options:\n- one\n- two', 'Options:'],
  ['获取新闻。还有更多。', '获取新闻。'],
  ['no end', 'no end'],
  ['', ''],
] as const) {
  test(`slim: the first sentence of ${JSON.stringify(text)}`, (t) => t.is(firstSentence(text), expected))
}

test('slim: a sentence without an end is cut at a word', (t) => {
  const cut = firstSentence('word '.repeat(100))
  t.true(cut.length <= 160)
  t.true(cut.endsWith('word…'))
})

const PROSE = ['description', 'title', 'default', 'examples']
const annotations = {
  type: fc.constantFrom('string', 'object', 'array', 'integer'),
  description: fc.string(),
  title: fc.string(),
  default: fc.jsonValue({ maxDepth: 1 }),
  examples: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
  enum: fc.array(fc.string(), { maxLength: 3 }),
  minimum: fc.double({ noNaN: true, noDefaultInfinity: true }),
}

function schemaOf(depth: number): fc.Arbitrary<Record<string, unknown>> {
  if (depth === 0) return fc.record(annotations, { requiredKeys: [] })
  const inner = schemaOf(depth - 1)
  const properties = fc.dictionary(fc.oneof(fc.constantFrom(...PROSE), fc.string()), inner, { maxKeys: 3 })
  const nested = { properties, items: inner, anyOf: fc.array(inner, { maxLength: 2 }) }
  return fc.record({ ...annotations, ...nested }, { requiredKeys: [] })
}

/** Removes annotations from the parsed schema, as an independent reference. */
function withoutProse(schema: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([name]) => !PROSE.includes(name))
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (name === 'items') return [name, withoutProse(value as Record<string, unknown>)]
      if (name === 'anyOf') return [name, (value as Record<string, unknown>[]).map(withoutProse)]
      if (name !== 'properties') return [name, value]
      const inner = Object.entries(value as Record<string, Record<string, unknown>>)
      return [name, Object.fromEntries(inner.map(([key, each]) => [key, withoutProse(each)]))]
    }),
  )
}

test('slim: keeps all but annotations of any schema, and lengthens nothing', (t) => {
  let shortened = 0
  fc.assert(
    fc.property(schemaOf(2), fc.string(), (schema, description) => {
      // Printed once, to drop values that JSON cannot represent.
      const raw = Buffer.from(JSON.stringify({ name: 'a', description, input_schema: schema }))
      const tool = JSON.parse(raw.toString())
      const after = slimTool(raw, tool)
      if (after.length < raw.length) shortened++
      const { input_schema: left } = JSON.parse(after.toString())
      return after.length <= raw.length && JSON.stringify(left) === JSON.stringify(withoutProse(tool.input_schema))
    }),
    { numRuns: 300 },
  )
  t.true(shortened > 100, `${shortened}`)
})
