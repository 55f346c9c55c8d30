import test from 'ava'
import fc from 'fast-check'
import { findStrictFault } from '../../../../test/support/openai/strict-schema.ts'
import { isStrictSchema } from './strict-schema.ts'
import { toToolId } from './tool-id.ts'

const text = { type: 'string' }
const closed = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

const STRICT = {
  'a closed object': closed({ a: text }),
  'an object without properties': { type: 'object', additionalProperties: false },
  'a choice': closed({ a: { anyOf: [text, closed({ b: text })] } }),
  'a reference': closed({ a: { $ref: '#/$defs/a' } }, { $defs: { a: closed({}) } }),
  'a value that may be absent': closed({
    a: { type: ['object', 'null'], properties: {}, additionalProperties: false },
  }),
  'properties that are named like schema keywords': closed({ properties: text, type: text, required: text }),
  'examples that look like schemas': closed({ a: { type: 'string', enum: [{ type: 'object' }] } }),
}

const LOOSE = {
  'an open object': { ...closed({ a: text }), additionalProperties: undefined },
  'a property that may be left out': { ...closed({ a: text }), required: [] },
  'an open object in a list': closed({ a: { type: 'array', items: { type: 'object' } } }),
  'an open object in a definition': closed({}, { $defs: { a: { type: 'object' } } }),
  'a property of any kind': closed({ a: {} }),
  'an enumeration without a type': closed({ a: { enum: ['x'] } }),
  'a composition': closed({ a: { type: 'string', allOf: [text] } }),
  'an object that may be null, and is open': closed({ a: { type: ['object', 'null'] } }),
}

for (const [kind, schema] of Object.entries(STRICT)) {
  test(`strict schema: ${kind} is strict`, (t) => {
    t.is(findStrictFault(schema), undefined)
    t.true(isStrictSchema(schema))
  })
}

for (const [kind, schema] of Object.entries(LOOSE)) {
  test(`strict schema: ${kind} is not strict`, (t) => {
    t.not(findStrictFault(schema), undefined)
    t.false(isStrictSchema(schema))
  })
}

test('tool id: a valid one stays unchanged', (t) => {
  for (const id of ['call_1', 'toolu_01A-b', 'x']) t.is(toToolId(id), id)
})

test('tool id: any id becomes a valid one, deterministically', (t) => {
  fc.assert(
    fc.property(fc.string({ minLength: 0, maxLength: 60 }), (id) => {
      t.regex(toToolId(id), /^[a-zA-Z0-9_-]+$/)
      t.is(toToolId(id), toToolId(id))
    }),
  )
})

test('tool id: ids that differ only in the replaced characters stay distinct', (t) => {
  t.not(toToolId('functions.search:0'), toToolId('functions:search.0'))
})
