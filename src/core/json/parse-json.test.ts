import test from 'ava'
import fc from 'fast-check'
import { parseJson } from './parse-json.ts'
import { ScanError } from './scan-error.ts'

/** Keys, each with the key that V8 may mistake it for, and its spelling. */
const KEYS: readonly (readonly [key: string, other: string, written: string])[] = [
  ['max_tokens', '\\u006dax_t', '\\u006dax_tokens'],
  ['model', 'mode\\', 'mode\\u006c'],
  ['A', '\\', '\\u0041'],
  ['"', '\\', '\\"'],
  ['/', '\\', '\\/'],
  ['\\x', '\\\\', '\\\\x'],
  ['a"b', 'a\\"', 'a\\"b'],
  ['é\n', 'é\\', 'é\\n'],
]

/** Lets V8 see another key after one that it sees for the first time. */
function poison(first: string, other: string): void {
  JSON.parse(JSON.stringify({ [first]: 1, [other]: 2 }))
}

for (const [key, other, written] of KEYS)
  for (const [name, blank] of Object.entries({ none: '', space: ' ', lines: '\r\n\t' }))
    test(`${JSON.stringify(key)} as ${written}, blank before the colon: ${name}, is read as it is after ${other}`, (t) => {
      const first = `${key}, ${name}`
      const member = `${JSON.stringify(first)}:1,"${written}"${blank}:`
      poison(first, other)
      t.deepEqual(Object.keys(JSON.parse(`{${member}2}`)), [first, other], 'V8 is right: this module is not needed')
      t.deepEqual(parseJson(`{${member}[{}]}`), { [first]: 1, [key]: [{}] })
      t.deepEqual(parseJson(` [ {${member}"\\":","more":-0} ] `), [{ [first]: 1, [key]: '":', more: -0 }])
    })

/** JSON with some characters of its strings, keys among them, written as escapes. */
const escapedTexts = fc
  .tuple(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), fc.infiniteStream(fc.nat(9)))
  .map(([value, dice]) =>
    JSON.stringify(value).replace(/[a-zA-Z_](?=[^"\\]*")/g, (letter) =>
      dice.next().value === 0 && !/^(true|false|null|e)/.test(letter)
        ? `\\u00${letter.charCodeAt(0).toString(16)}`
        : letter,
    ),
  )

test('any other text is read as by JSON.parse', (t) => {
  const property = fc.property(escapedTexts, (text) => {
    let expected: unknown
    try {
      expected = JSON.parse(text)
    } catch {
      t.throws(() => parseJson(text), { instanceOf: SyntaxError })
      return
    }
    t.deepEqual(parseJson(text), expected)
  })
  fc.assert(property, { numRuns: 2000 })
  for (const value of [':', '\\":', { a: ':' }, [':\n', { '': '":' }]]) {
    const text = JSON.stringify(value)
    t.deepEqual(parseJson(text), value, text)
    t.deepEqual(parseJson(text.replaceAll(':', ' : ')), JSON.parse(text.replaceAll(':', ' : ')), text)
  }
  t.deepEqual(Object.keys(parseJson('{"b\\u0062":1,"__proto__":{},"1":0,"b\\u0062":2}') as object), [
    '1',
    'bb',
    '__proto__',
  ])
})

test('invalid JSON is refused with JSON.parse’s message, and depth is bounded', (t) => {
  t.throws(() => parseJson('{"\\u0041":1'), { instanceOf: SyntaxError })
  const deep = (levels: number) => `${'{"\\u0041":'.repeat(levels)}1${'}'.repeat(levels)}`
  t.notThrows(() => parseJson(deep(200)))
  t.throws(() => parseJson(deep(10_000)), { instanceOf: ScanError })
})
