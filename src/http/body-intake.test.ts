import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import test from 'ava'
import { BodyIntake } from './body-intake.ts'

/** The part of a request that an intake reads. */
function requestOf(): PassThrough & IncomingMessage {
  // Safe: an intake reads headers and the stream.
  return Object.assign(new PassThrough(), { headers: {} }) as unknown as PassThrough & IncomingMessage
}

test('body intake: the bytes of a client that left half-way are free again', async (t) => {
  const intake = new BodyIntake({ limitBytes: 100, budgetBytes: 100 })
  const left = requestOf()
  const reading = intake.read(left, { sender: 'a' })
  left.write(Buffer.alloc(80))
  await new Promise((resolve) => setImmediate(resolve))
  left.destroy(new Error('aborted'))
  await t.throwsAsync(reading, { code: 'invalid_request' })
  const whole = requestOf()
  whole.end(Buffer.alloc(90))
  t.is((await intake.read(whole, { sender: 'b' })).length, 90)
})
