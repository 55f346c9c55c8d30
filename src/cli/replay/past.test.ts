import test from 'ava'
import { assertKept, type KnownRequest } from './past.ts'

const session = { mode: 'local', pipeline: 'none', has: { capture: true } } as const
const whole = { text: '{}', isCut: false, totalBytes: 2 }

function knownWith(request: typeof whole, reply = whole): KnownRequest {
  const record = { requestId: 'req_1' } as KnownRequest['request'] // safe: nothing else is read
  return { request: record, capture: { request, reply } }
}

test('replay: a body that was cut, or is no text, is not sent again', (t) => {
  t.is(assertKept(knownWith(whole), session).body, '{}')
  for (const changed of [
    { ...whole, isCut: true },
    { ...whole, text: '{"a":"\uFFFD"}' },
  ])
    t.throws(() => assertKept(knownWith(changed), session), { message: /req_1 \(2 bytes\) was not kept whole/ })
})

test('replay: a reply that was cut is not compared', (t) => {
  t.is(assertKept(knownWith(whole), session).reply, '{}')
  t.is(assertKept(knownWith(whole, { ...whole, isCut: true }), session).reply, undefined)
})
