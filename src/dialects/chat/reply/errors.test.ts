import test from 'ava'
import fc from 'fast-check'
import { messagesErrorOf, toChatError, toMessagesError } from './errors.ts'

const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const read = (bytes: Buffer) => JSON.parse(bytes.toString())

for (const [status, type] of [
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [422, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
] as const) {
  test(`errors: status ${status} of a chat provider becomes ${type}`, (t) => {
    const body = json({ error: { message: 'No.', type: 'server_error', code: null, param: null } })
    t.deepEqual(read(toMessagesError(status, body)), { type: 'error', error: { type, message: 'No.' } })
  })
}

for (const [where, body] of Object.entries({
  'error.message': { error: { message: 'No.' } },
  'an error that is text': { error: 'No.' },
  'a message at the top': { object: 'error', message: 'No.', code: 404 },
  'a detail': { detail: 'No.' },
  'a list of details': { detail: [{ loc: ['body'], msg: 'No.' }] },
  'an array around it': [{ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }],
})) {
  test(`errors: the message is found in ${where}`, (t) => {
    t.is(read(toMessagesError(400, json(body))).error.message, 'No.')
  })
}

test('errors: plain text is the message', (t) => {
  t.is(read(toMessagesError(502, Buffer.from('upstream connect error\n'))).error.message, 'upstream connect error')
})

test('errors: a page of HTML is not quoted', (t) => {
  const { error } = read(toMessagesError(502, Buffer.from('<html><h1>502</h1></html>')))
  t.deepEqual(error, { type: 'api_error', message: 'The provider answered with status 502.' })
})

test('errors: within a stream the code or type replaces the status', (t) => {
  const typeOf = (error: unknown) => messagesErrorOf(undefined, { error }).error.type
  t.is(typeOf({ code: 429, message: 'Slow down.' }), 'rate_limit_error')
  t.is(typeOf({ type: 'invalid_request_error', code: null }), 'invalid_request_error')
  t.is(typeOf({ type: 'server_error' }), 'api_error')
  t.is(typeOf('gone'), 'api_error')
})

test('errors: a Messages error as a chat error has the members that both SDK families read', (t) => {
  const body = json({
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded', details: null },
    request_id: 'r',
  })
  t.deepEqual(read(toChatError(529, body)), {
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded', code: null, param: null, details: null },
    request_id: 'r',
  })
})

test('errors: any bytes become an error of either shape with a type and a message', (t) => {
  const body = fc.oneof(
    fc.uint8Array().map(Buffer.from),
    fc.jsonValue().map(json),
    fc.dictionary(fc.string(), fc.jsonValue()).map((error) => json({ error })),
  )
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), body, (status, bytes) => {
        for (const { type, error } of [read(toMessagesError(status, bytes)), read(toChatError(status, bytes))]) {
          t.is(type, 'error')
          t.true(typeof error.type === 'string' && error.type !== '')
          t.true(typeof error.message === 'string' && error.message !== '')
        }
      }),
    ),
  )
})
