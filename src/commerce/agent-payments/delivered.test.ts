import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { Log } from '../../core/ports/log.ts'
import type { ByteSource, ByteSourceSink } from '../../core/reply/byte-source.ts'
import { StreamReply } from '../../core/reply/reply.ts'
import { printEvent } from '../../core/reply/sse.ts'
import { memoryStore } from '../../stores/kv/memory.ts'
import { awaitFirstEvent } from './await-first-event.ts'
import { DeliveredAnswers } from './delivered.ts'

const REPETITION = { challengeId: 'c', tokenHash: 't', key: 'k' }
const STREAM = [
  { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'message_stop' },
].map(printEvent)

/** A stream that the test drives by hand. */
function openStream() {
  let sink: ByteSourceSink | undefined
  const source: ByteSource = {
    start(given) {
      sink = given
    },
    pause() {},
    resume() {},
    cancel() {},
  }
  const reply = new StreamReply({ status: 200, headers: {} }, source)
  const open = () => {
    reply.open({ write: () => true, end: () => {} })
    if (sink === undefined) throw new Error('not started')
    return sink
  }
  return { reply, open }
}

test('delivered answers: a repetition waits for a stream that is still running', async (t) => {
  // Safe: nothing is logged.
  const answers = new DeliveredAnswers(memoryStore(1_000_000), {} as Log)
  const { reply, open } = openStream()
  await answers.keep(REPETITION, reply, {})
  const sink = open()
  sink.data(Buffer.from(STREAM[0] ?? ''))
  const found = answers.find(REPETITION)
  sink.data(Buffer.from(STREAM[1] ?? ''))
  sink.end()
  t.is((await found)?.body.toString(), STREAM.join(''))
})

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
