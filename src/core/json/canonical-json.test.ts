import test from 'ava'
import fc from 'fast-check'
import { canonicalJson } from './canonical-json.ts'

/** Prints the same by other means: members sorted first, then JSON.stringify, which prints integer-like names in front. */
function sortedEntries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedEntries)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sortedEntries(member)])
}

const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed())
const name = text.filter((each) => !/^\d+$/.test(each) && each !== '__proto__')
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(name, tie('tree'), { maxKeys: 6 }),
  ),
}))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).sort()
  // Safe: the names are the value's own.
  return Object.fromEntries(names.map((each) => [each, sorted((value as Record<string, unknown>)[each])]))
}

test('canonical JSON: equals JSON.stringify’s text of sorted members', (t) => {
  fc.assert(
    fc.property(tree, (value) => t.is(canonicalJson(value), JSON.stringify(sorted(value)))),
    { numRuns: 300 },
  )
})

test('canonical JSON: means the same value, and is its own canonical form', (t) => {
  fc.assert(
    fc.property(tree, (value) => {
      const canonical = canonicalJson(value)
      t.deepEqual(sortedEntries(JSON.parse(canonical)), sortedEntries(JSON.parse(JSON.stringify(value))))
      t.is(canonicalJson(JSON.parse(canonical)), canonical)
    }),
    { numRuns: 200 },
  )
})

test('canonical JSON: RFC 8785, section 3.2.3, sorts names by their UTF-16 units', (t) => {
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
  t.is(canonicalJson(names), '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}')
})

test('canonical JSON: RFC 8785, section 3.2.2, prints numbers and strings like ECMAScript', (t) => {
  t.is(
    canonicalJson({
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('canonical JSON: integer-like names are sorted as text', (t) => {
  t.is(canonicalJson({ b: 1, 10: 2, 9: 3 }), '{"10":2,"9":3,"b":1}')
})

test('canonical JSON: lone surrogates, numbers that are not finite and other types have none', (t) => {
  for (const value of ['\ud800', { '\udc00': 1 }, Number.NaN, Number.POSITIVE_INFINITY, 1n, [undefined]])
    t.throws(() => canonicalJson(value), { instanceOf: TypeError })
})
