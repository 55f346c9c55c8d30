import { EventStreamCodec } from '@smithy/eventstream-codec'
import test from 'ava'
import fc from 'fast-check'
import { chunkFrame, frame } from '../../../test/support/bedrock/frames.ts'
import { FrameReader, loadFrameCodec } from './frames.ts'

const codec = await loadFrameCodec()

test('frames: any split of the bytes yields the same frames', (t) => {
  const bodies = fc.array(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 8 },
  )
  const cuts = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 })
  fc.assert(
    fc.property(bodies, cuts, (payloads, sizes) => {
      const stream = Buffer.concat(payloads.map((payload, nth) => frame({ ':event-type': `e${nth}` }, payload)))
      const reader = new FrameReader(codec)
      const found = []
      for (let at = 0, nth = 0; at < stream.length; nth++) {
        const size = sizes[nth % sizes.length] ?? 1
        found.push(...reader.push(stream.subarray(at, at + size)))
        at += size
      }
      t.deepEqual(
        found.map(({ headers, body }) => [headers.get(':event-type'), body.toString('hex')]),
        payloads.map((payload, nth) => [`e${nth}`, payload.toString('hex')]),
      )
      t.false(reader.isWithinFrame)
    }),
  )
})

test('frames: output of the vendor’s own codec is read', (t) => {
  const vendor = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
    (text) => Buffer.from(text),
  )
  const headers = { ':event-type': { type: 'string', value: 'chunk' }, count: { type: 'integer', value: 3 } } as const
  const [found] = new FrameReader(codec).push(Buffer.from(vendor.encode({ headers, body: Buffer.from('{}') })))
  t.deepEqual([...(found?.headers ?? [])], [[':event-type', 'chunk']])
  t.is(found?.body.toString(), '{}')
})

test('frames: a frame with any byte changed is not read', (t) => {
  const whole = chunkFrame('{"type":"ping"}')
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(whole)
      damaged.writeUInt8(damaged.readUInt8(at) ^ change, at)
      t.is(countOf(damaged), 0)
    }),
  )
})

/** Counts the frames found; 0 when reading throws. */
function countOf(bytes: Buffer): number {
  try {
    return [...new FrameReader(codec).push(bytes)].length
  } catch {
    return 0
  }
}

test('frames: a frame of invalid length is refused at its first bytes', (t) => {
  for (const length of [0, 15, 101, 0xffffffff]) {
    const start = Buffer.alloc(4)
    start.writeUInt32BE(length)
    t.throws(() => [...new FrameReader(codec, { mostBytes: 100 }).push(start)], {
      message: /expected a frame of 16 to 100/,
    })
  }
})

test('frames: the bytes end within a frame until its last one', (t) => {
  const reader = new FrameReader(codec)
  const whole = chunkFrame('{}')
  t.deepEqual([...reader.push(whole.subarray(0, -1))], [])
  t.true(reader.isWithinFrame)
  t.is([...reader.push(whole.subarray(-1))].length, 1)
  t.false(reader.isWithinFrame)
})
