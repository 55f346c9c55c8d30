import test from 'ava'
import type { Log } from '../../core/ports/log.ts'
import type { ByteSource, ByteSourceSink } from '../../core/reply/byte-source.ts'
import { StreamReply } from '../../core/reply/reply.ts'
import { printEvent } from '../../core/reply/sse.ts'
import { memoryStore } from '../../stores/kv/memory.ts'
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
