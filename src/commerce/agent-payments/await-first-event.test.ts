import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { ByteSourceSink } from '../../core/reply/byte-source.ts'
import { StreamReply } from '../../core/reply/reply.ts'
import { awaitFirstEvent } from './await-first-event.ts'

const PING = 'event: ping\ndata: {"type":"ping"}\n\n'
const ERROR = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"later"}}\n\n'
const START = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"m","usage":{}}}\n\n'

/** Waits for the first event of a stream that sends these pieces and may then end. */
async function play(pieces: readonly string[], { ends = false, signal = new AbortController().signal } = {}) {
  let source: ByteSourceSink | undefined
  const state = { isCancelled: false, isBegun: false, error: undefined as { code?: string } | undefined }
  const reply = new StreamReply(
    { status: 200, headers: {} },
    {
      start: (sink) => {
        source = sink
      },
      pause() {},
      resume() {},
      cancel() {
        state.isCancelled = true
      },
    },
  )
  const waiting = awaitFirstEvent(reply, signal).then(
    () => {
      state.isBegun = true
    },
    (error: { code?: string }) => {
      state.error = error
    },
  )
  for (const piece of pieces) source?.data(Buffer.from(piece))
  if (ends) source?.end()
  await Promise.race([waiting, nextTurn()])
  await nextTurn()
  return state
}

test('first event: a ping is not the beginning of an answer, and neither is silence', async (t) => {
  t.like(await play([]), { isBegun: false, error: undefined })
  t.like(await play([PING, PING]), { isBegun: false, error: undefined })
  t.like(await play([PING, START]), { isBegun: true, isCancelled: false })
  t.like(await play([START, ERROR]), { isBegun: true, isCancelled: false })
})

test('first event: an error or an end before the answer refuses the stream, and cancels it', async (t) => {
  for (const pieces of [[ERROR], [PING, ERROR]])
    t.like(await play(pieces), { isBegun: false, isCancelled: true, error: { code: 'upstream_error' } })
  for (const pieces of [[], [PING]])
    t.like(await play(pieces, { ends: true }), { isBegun: false, error: { code: 'upstream_error' } })
})

test('first event: a client that leaves cancels the stream', async (t) => {
  const signal = AbortSignal.abort(new Error('the client left'))
  t.like(await play([PING], { signal }), { isBegun: false, isCancelled: true })
})
