import test from 'ava'
import fc from 'fast-check'
import { GatewayError } from '../core/errors.ts'
import { scanBody } from './scan-body.ts'

/** Pieces of a string's content in JSON, right and wrong, which may also meet to form other ones. */
const pieces = fc.array(
  fc.constantFrom(
    '\\',
    '"',
    '\\"',
    '\\\\',
    '\\n',
    '\\/',
    '\\x',
    '\\u00e9',
    '\\u00',
    '\\ud83d',
    'u',
    '\t',
    '\n',
    '\u0001',
    'a',
    'é',
  ),
  { maxLength: 12 },
)

test('scan of a body: of a small one, strings are accepted as JSON.parse accepts them', (t) => {
  const property = fc.property(pieces, pieces, (key, text) => {
    const body = `{"m":"${text.join('')}","data":{"k${key.join('')}":1}}`
    t.is(
      accepts(() => scanBody(Buffer.from(body))),
      accepts(() => JSON.parse(body)),
      body,
    )
  })
  fc.assert(property, { numRuns: 3000 })
})

test('scan of a body: a fault in a string has its position', (t) => {
  const error = t.throws(() => scanBody(Buffer.from('{"model":"m",\n "system":"C:\\path"}')), {
    instanceOf: GatewayError,
  })
  t.true(error.message.includes('line 2, column 15'), error.message)
})

function accepts(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
