import test from 'ava'
import fc from 'fast-check'
import { jsonTexts } from '../../../test/support/request-bodies.ts'
import { locateJsonError } from './json-error.ts'

function locate(body: string | Buffer) {
  return locateJsonError(Buffer.from(body))
}

test('locateJsonError: names position, line, column and reason', (t) => {
  t.deepEqual(locate('{\n  "é": 1,\n  "a" 2\n}'), {
    position: 19,
    line: 3,
    column: 7,
    message: "expected ':' after a key, got '2'",
  })
  t.deepEqual(locate(''), { position: 0, line: 1, column: 1, message: 'expected a value, got the end of the document' })
  t.like(locate('{"a":"é'), { position: 8, column: 8, message: 'a string is not closed' })
  t.like(locate('[1] x'), { position: 4, message: "expected the end of the document, got 'x'" })
})

test('locateJsonError: looks into strings', (t) => {
  const cases: [string, number, RegExp][] = [
    ['["a\nb", x]', 3, /^expected control characters .* to be escaped, got byte 0x0a$/],
    ['["\\x"]', 3, /after a backslash, got 'x'$/],
    ['["\\u00g0"]', 6, /^expected four hexadecimal digits .* got 'g'$/],
    ['["\\u00"]', 6, /got '"'$/],
    ['{"a\tb":1}', 3, /got byte 0x09$/],
  ]
  for (const [body, position, message] of cases) {
    const found = locate(body)
    t.is(found.position, position, body)
    t.regex(found.message, message)
  }
})

test('locateJsonError: of two faults the earlier counts', (t) => {
  t.is(locate('["\\x", tru]').position, 3)
  t.is(locate('[tru, "\\x"]').position, 4)
})

test('locateJsonError: finds the first character that is not UTF-8', (t) => {
  const faults = [[0xff], [0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]
  const before = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text))
  fc.assert(
    fc.property(before, fc.constantFrom(...faults), before, (start, fault, end) => {
      const body = Buffer.concat([start, Buffer.from([...fault, 0x22]), end])
      t.like(locate(body), { position: start.length, message: 'a character is not UTF-8' })
    }),
  )
})

test('locateJsonError: agrees with V8 where V8 reports a position', (t) => {
  let compared = 0
  const byte = fc.constantFrom('{', '}', '[', ']', ',', ':', '-', '0', '.', 'e', '"', '\\', '\u0001', 'x')
  fc.assert(
    fc.property(jsonTexts, fc.nat(), byte, fc.boolean(), (json, choice, inserted, isDeletion) => {
      const at = choice % json.length
      const changed = json.slice(0, at) + (isDeletion ? '' : inserted) + json.slice(at + 1)
      const expected = positionByV8(changed)
      if (expected === undefined) return
      compared++
      t.is(locate(changed).position, Buffer.byteLength(changed.slice(0, expected)), changed)
    }),
    { numRuns: 2000 },
  )
  t.true(compared > 50, `${compared} compared`)
})

/** Returns the position in JSON.parse's error, if it has one. */
function positionByV8(json: string): number | undefined {
  try {
    JSON.parse(json)
  } catch (error) {
    const found = /at position (\d+)/.exec(String(error))
    return found === null ? undefined : Number(found[1])
  }
  return undefined
}

test('locateJsonError: shows at most one character of the document', (t) => {
  const secret = 'sk-secret-prompt'
  for (const body of [`{"a":${secret}}`, `{"${secret}"}`, `["${secret}`, `["${secret}\\q"]`, `{${secret}:1}`]) {
    const { message } = locate(body)
    for (let i = 0; i < secret.length - 1; i++) t.false(message.includes(secret.slice(i, i + 3)), message)
  }
})
