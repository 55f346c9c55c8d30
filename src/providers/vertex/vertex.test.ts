import test from 'ava'
import { addressOf } from './address.ts'
import { toMessagesError } from './errors.ts'

test('vertex address: global, multi-region and regional hosts have different forms', (t) => {
  t.is(addressOf('global'), 'https://aiplatform.googleapis.com')
  t.is(addressOf('eu'), 'https://aiplatform.eu.rep.googleapis.com')
  t.is(addressOf('us-east5'), 'https://us-east5-aiplatform.googleapis.com')
})

const errorOf = (status: number, body: string) =>
  JSON.parse(toMessagesError(status, Buffer.from(body)).toString()).error

test('vertex errors: a platform error keeps its message and gets its status’s type', (t) => {
  const error = '{"error":{"code":403,"message":"Permission denied on resource","status":"PERMISSION_DENIED"}}'
  t.deepEqual(errorOf(403, error), { type: 'permission_error', message: 'Permission denied on resource' })
  t.deepEqual(errorOf(403, `[${error}\n]`), { type: 'permission_error', message: 'Permission denied on resource' })
})

test('vertex errors: the model’s own error is the same bytes', (t) => {
  const body = Buffer.from('{ "type":"error","error":{"type":"overloaded_error","message":"Overloaded"} }')
  t.is(toMessagesError(529, body), body)
})

test('vertex errors: a body that is no error is reported by its status', (t) => {
  for (const body of ['', '<h1>no</h1>', '{"error":"x"}', '[]', 'null', '{"error":{}}'])
    t.deepEqual(errorOf(418, body), {
      type: 'invalid_request_error',
      message: 'The provider answered 418 without a readable error.',
    })
})
