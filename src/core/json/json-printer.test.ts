import test from 'ava'
import fc from 'fast-check'
import { JsonPrinter } from './json-printer.ts'
import { NameOrders } from './name-orders.ts'

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

const open = () => new NameOrders((name) => `${name}:`)
function isKept(orders: NameOrders, names: readonly string[]): boolean {
  const first = orders.of([...names])
  return orders.of([...names]) === first
}

test('name orders: the names of one kind of object are sorted once', (t) => {
  const orders = open()
  t.like(orders.of(['b', 'a']), { sorted: ['a', 'b'], labels: ['a:', 'b:'] })
  t.true(isKept(orders, ['b', 'a']))
  t.like(orders.of(['a', 'b']), { names: ['a', 'b'] })
})

test('name orders: long names, and many, are not kept', (t) => {
  t.true(isKept(open(), ['a'.repeat(256)]))
  t.false(isKept(open(), ['a'.repeat(256), 'b']))
  t.false(
    isKept(
      open(),
      Array.from({ length: 65 }, (_, i) => `${i}`),
    ),
  )
})

test('name orders: a bounded count is kept', (t) => {
  const orders = open()
  let kept = 0
  for (let length = 1; length <= 40; length++)
    for (let kind = 0; kind < 20; kind++)
      if (
        isKept(
          orders,
          Array.from({ length }, (_, i) => `${kind}_${i}`),
        )
      )
        kept++
  t.is(kept, 64)
})
