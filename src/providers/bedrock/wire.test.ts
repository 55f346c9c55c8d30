import test from 'ava'
import { chunkFrame, exceptionFrame, frame } from '../../../test/support/bedrock/frames.ts'
import type { ByteSource } from '../../core/reply/byte-source.ts'
import { FrameReader, loadFrameCodec } from './frames.ts'
import { bedrockWire, messagesSource } from './wire.ts'

const codec = await loadFrameCodec()

/** Returns the output of a source that sends these chunks and ends. */
function outcomeOf(...chunks: Buffer[]) {
  const outcome = { text: '', ended: 0, failures: [] as string[], cancelled: false }
  const source: ByteSource = {
    start(sink) {
      for (const chunk of chunks) sink.data(chunk)
      if (!outcome.cancelled) sink.end()
    },
    pause() {},
    resume() {},
    cancel() {
      outcome.cancelled = true
    },
  }
  messagesSource(source, new FrameReader(codec)).start({
    data: (bytes) => {
      outcome.text += bytes.toString('latin1')
    },
    end: () => outcome.ended++,
    fail: (error) => outcome.failures.push(error.message),
  })
  return outcome
}

test('bedrock stream: the JSON of an event is not touched, and its type is its name', (t) => {
  const json = Buffer.from('{"index":0 ,"type":"content_block_delta","delta":{"x":1.0,"text":"\\u00e9 é"}}  ')
  const { text, ended } = outcomeOf(chunkFrame(json))
  t.is(text, `event: content_block_delta\ndata: ${json.toString('latin1')}\n\n`)
  t.is(ended, 1)
})

test('bedrock stream: JSON of several lines is still one event', (t) => {
  const { text } = outcomeOf(chunkFrame('{"type":"ping",\n"a":1,\r\n"b":2}'))
  t.is(text, 'event: ping\ndata: {"type":"ping",\ndata: "a":1,\ndata: "b":2}\n\n')
})

test('bedrock stream: frames that are neither chunk nor exception are skipped', (t) => {
  const other = frame({ ':message-type': 'event', ':event-type': 'initial-response' }, '{}')
  t.is(outcomeOf(other, chunkFrame('{"type":"ping"}')).text, 'event: ping\ndata: {"type":"ping"}\n\n')
})

test('bedrock stream: exceptions and errors become error events', (t) => {
  const error = frame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Broken' }, '')
  t.is(
    outcomeOf(exceptionFrame('modelTimeoutException', 'Too slow'), error).text,
    'event: error\ndata: {"type":"error","error":{"type":"timeout_error","message":"Too slow"}}\n\n' +
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Broken"}}\n\n',
  )
})

test('bedrock stream: it fails once, and is cancelled, after the last readable frame', (t) => {
  const ping = chunkFrame('{"type":"ping"}')
  const damaged = Buffer.from(ping)
  damaged.writeUInt8(damaged.readUInt8(50) ^ 1, 50)
  for (const bad of [damaged, chunkFrame('{"type":1}'), chunkFrame('{}'), chunkFrame('no JSON')]) {
    const outcome = outcomeOf(Buffer.concat([ping, bad, ping]), ping)
    t.like(outcome, {
      text: 'event: ping\ndata: {"type":"ping"}\n\n',
      ended: 0,
      failures: ['the provider sent a frame that cannot be read'],
      cancelled: true,
    })
  }
})

test('bedrock stream: an end within a frame is a failure', (t) => {
  const { ended, failures } = outcomeOf(chunkFrame('{"type":"ping"}').subarray(0, 30))
  t.is(ended, 0)
  t.deepEqual(failures, ['the provider ended the stream within a frame'])
})

test('bedrock wire: only its own content type is a stream', (t) => {
  const wire = bedrockWire(codec)
  t.true(wire.isStream({ 'content-type': 'application/vnd.amazon.eventstream' }))
  t.false(wire.isStream({ 'content-type': 'application/json' }))
  t.false(wire.isStream({}))
})
