import test from 'ava'
import fc from 'fast-check'
import { invalid, rejection, toErrorBody } from '../../../test/support/gemini/rejection.ts'
import { toMessagesError } from './errors.ts'

function translate(status: number, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return JSON.parse(toMessagesError(status, Buffer.from(text)).toString())
}

test('gemini errors: the message is kept and the type follows from the status', (t) => {
  t.deepEqual(translate(400, toErrorBody(invalid('No “é”.'))), {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'No “é”.' },
  })
  const types = [401, 403, 404, 413, 418, 429, 500, 503].map((status) => translate(status, {}).error.type)
  t.deepEqual(types, [
    ...['authentication_error', 'permission_error', 'not_found_error', 'request_too_large', 'invalid_request_error'],
    ...['rate_limit_error', 'api_error', 'overloaded_error'],
  ])
})

test('gemini errors: a wrong key is distinguished from an invalid request', (t) => {
  const body = toErrorBody(rejection(400, 'API key not valid.', 'API_KEY_INVALID'))
  t.is(translate(400, body).error.type, 'authentication_error')
})

test('gemini errors: an error in an array is read', (t) => {
  t.is(translate(429, [toErrorBody(rejection(429, 'Slow down.'))]).error.message, 'Slow down.')
})

test('gemini errors: an unreadable body becomes an error as well', (t) => {
  for (const body of ['', '<html>', '[]', 'null', '{"error":"text"}', '{"error":{"message":5}}']) {
    t.like(translate(502, body).error, {
      type: 'api_error',
      message: 'The provider answered 502 without a readable error.',
    })
  }
})

test('gemini errors: no input makes it throw', (t) => {
  const property = fc.property(fc.integer(), fc.oneof(fc.string(), fc.json()), (status, body) => {
    if (translate(status, body).type !== 'error') throw new Error('no error')
  })
  t.notThrows(() => fc.assert(property, { numRuns: 500 }))
})
