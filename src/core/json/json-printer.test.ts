import test from 'ava'
import fc from 'fast-check'
import { JsonPrinter } from './json-printer.ts'

test('json-printer: raw parts keep their exact text', (t) => {
  const printer = new JsonPrinter()
  const tree = { a: printer.raw('{"10":1.0, "2":9007199254740993}'), b: [printer.raw('"\\u00e9"')] }
  t.is(printer.print(tree), '{"a":{"10":1.0, "2":9007199254740993},"b":["\\u00e9"]}')
})

test('json-printer: a value that looks like a marker stays a value', (t) => {
  const printer = new JsonPrinter()
  const forged = ['"\\/0"', '\\/0', '/0', '\\"\\/0']
  const tree = { [forged[0] ?? '']: forged, part: printer.raw('{"x":1}') }
  t.deepEqual(JSON.parse(printer.print(tree)), { [forged[0] ?? '']: forged, part: { x: 1 } })
})

test('json-printer: a lone surrogate in raw text is escaped, not replaced', (t) => {
  const printer = new JsonPrinter()
  t.is(printer.print([printer.raw('"\ud83d\ude00\ud800"')]), '["\ud83d\ude00\\ud800"]')
})

test('json-printer: any JSON with any raw parts prints an equal value', (t) => {
  // Texts of the characters that markers are made of, besides arbitrary values.
  const markerLike = fc.string({ unit: fc.constantFrom('"', '\\', '/', '0', 'u', '\n') })
  const value = fc.oneof(fc.jsonValue(), markerLike, fc.dictionary(markerLike, markerLike))
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.boolean())), (values) => {
      const printer = new JsonPrinter()
      const tree = values.map(([value, isRaw]) => (isRaw ? printer.raw(JSON.stringify(value)) : value))
      t.is(printer.print(tree), JSON.stringify(values.map(([value]) => value)))
    }),
  )
  t.pass()
})
