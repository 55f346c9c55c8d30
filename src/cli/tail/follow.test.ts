import { mock } from 'node:test'
import test from 'ava'
import { fakeTimers } from '../../../test/support/fake-timers.ts'
import { follow } from './follow.ts'

const SILENCE_MS = 45_000

test('follow: a connection is given up after 45 s without bytes, not before', async (t) => {
  const pass = fakeTimers(t)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  let signal: AbortSignal | null | undefined
  const fetched = mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    signal = init.signal
    return new Response(readable)
  })
  t.teardown(() => fetched.mock.restore())
  const stopped = new AbortController()
  const feed = follow({ url: 'http://gateway', headers: {} }, stopped.signal)
  t.deepEqual((await feed.next()).value, { kind: 'open' })
  const next = feed.next()
  for (let i = 0; i < 3; i++) {
    pass(SILENCE_MS - 1)
    await writer.write(Buffer.from(': here\n\n'))
    await new Promise(setImmediate)
  }
  t.false(signal?.aborted)
  pass(SILENCE_MS)
  t.true(signal?.aborted)
  stopped.abort()
  await writer.abort()
  t.true((await next).done)
})
