import test from 'ava'
import type { ByteSourceSink } from '../../src/core/reply/byte-source.ts'
import { StreamReply } from '../../src/core/reply/reply.ts'
import { wholeReplyOf } from './whole-reply.ts'

const MOST_BYTES = 1000
const DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n'
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'

/** Returns what is kept of a stream of these events that then ends. */
async function kept(events: readonly string[], limitBytes = MOST_BYTES): Promise<string | undefined> {
  let sink: ByteSourceSink | undefined
  const source = {
    start(given: ByteSourceSink) {
      sink = given
    },
    pause() {},
    resume() {},
    cancel() {},
  }
  const reply = new StreamReply({ status: 200, headers: {} }, source)
  const whole = wholeReplyOf(reply, limitBytes)
  reply.open({ write: () => true, end: () => {} })
  for (const event of events) sink?.data(Buffer.from(event))
  sink?.end()
  return (await whole)?.body.toString()
}

test('whole reply: a stream is kept if it was complete and within the limit', async (t) => {
  t.is(await kept([DELTA, STOP]), DELTA + STOP)
  t.is(await kept([DELTA]), undefined)
  t.is(await kept([DELTA, STOP], DELTA.length), undefined)
})
