import test from 'ava'
import { GatewayError } from '../errors.ts'
import { RequestDocument } from './request.ts'
import { refuseServerSideThread } from './server-side-thread.ts'

const withThread = (thread: unknown) => new RequestDocument(Buffer.from(JSON.stringify({ thread, messages: [] })))

for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
  test(`chat request: a thread that is to ${thread.type} is refused with the detail that SDKs continue from`, (t) => {
    const error = t.throws(() => refuseServerSideThread(withThread(thread)), { instanceOf: GatewayError })
    t.is(error?.status, 400)
    t.like(error?.toBody().error, { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } })
  })
}

test('chat request: no thread, or null for one, is not refused', (t) => {
  t.notThrows(() => refuseServerSideThread(withThread(undefined)))
  t.notThrows(() => refuseServerSideThread(withThread(null)))
})
