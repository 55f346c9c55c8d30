import test from 'ava'
import fc from 'fast-check'
import { ChunkBuffer } from './chunk-buffer.ts'

const MB = 1024 * 1024

test('chunk buffer: taken bytes are those added, however they were cut', (t) => {
  let hasCopied = 0
  const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(3000), fc.constantFrom(1023, 1024, 70_000, 400_000)), {
    minLength: 100,
    maxLength: 300,
  })
  fc.assert(
    fc.property(sizes, fc.nat(300), (lengths, taken) => {
      const buffer = new ChunkBuffer()
      const added = lengths.map((length, i) => Buffer.alloc(length, i % 251))
      const given: Buffer[] = []
      for (const [i, piece] of added.entries()) {
        buffer.add(piece)
        // The sender's memory is its own again.
        if (i === taken) given.push(Buffer.from(buffer.take(Buffer.from('last'))))
        hasCopied += piece.length < 1024 ? 1 : 0
      }
      const expected = added.flatMap((piece, i) => (i === taken ? [piece, Buffer.from('last')] : [piece]))
      given.push(buffer.take())
      t.true(Buffer.concat(given).equals(Buffer.concat(expected)))
      t.is(buffer.bytes, 0)
    }),
    { numRuns: 60 },
  )
  t.true(hasCopied > 1000)
})

test('chunk buffer: a single chunk is returned without a copy', (t) => {
  const buffer = new ChunkBuffer()
  const only = Buffer.from('only')
  buffer.add(only)
  t.is(buffer.take(), only)
})

test('chunk buffer: a million chunks of one byte take a few megabytes', (t) => {
  const buffer = new ChunkBuffer()
  const slab = Buffer.alloc(1_000_000)
  globalThis.gc?.()
  const before = process.memoryUsage()
  for (let i = 0; i < slab.length; i++) buffer.add(slab.subarray(i, i + 1))
  globalThis.gc?.()
  const after = process.memoryUsage()
  const grownBytes = after.arrayBuffers - before.arrayBuffers
  t.true(grownBytes < 4_000_000, `${grownBytes} bytes of pages`)
  t.is(buffer.take().length, slab.length)
})

test('chunk buffer: megabytes are collected in one block of at most twice the received bytes', (t) => {
  const buffer = new ChunkBuffer()
  const piece = Buffer.alloc(65_536)
  for (let i = 0; i < 40; i++) {
    buffer.add(piece)
    piece.fill(i + 1) // the sender's memory is its own again beyond a megabyte
  }
  const taken = buffer.take()
  t.is(taken.length, 40 * 65_536)
  t.is(taken.at(-1), 39)
  t.true(taken.buffer.byteLength <= 2 * taken.length)
})

test('chunk buffer: exactly an announced length is reserved', (t) => {
  const buffer = new ChunkBuffer({ expectedBytes: 3 * MB })
  for (let i = 0; i < 48; i++) buffer.add(Buffer.alloc(65_536, i))
  t.is(buffer.take().buffer.byteLength, 3 * MB)
})

test('chunk buffer: bytes beyond the announced length are kept, too', (t) => {
  const buffer = new ChunkBuffer({ expectedBytes: 2 * MB })
  for (let i = 0; i < 48; i++) buffer.add(Buffer.alloc(65_536, i))
  t.is(buffer.take(Buffer.from('last')).toString('latin1', 3 * MB), 'last')
})

test('chunk buffer: large chunks of its own are freed once they are joined, views of shared memory are not', (t) => {
  const buffer = new ChunkBuffer({ ownsChunks: true })
  const shared = Buffer.alloc(100_000, 'b')
  const chunks = [Buffer.alloc(64 * 1024, 'a'), shared.subarray(0, 64 * 1024), Buffer.alloc(10, 'c')]
  for (const chunk of chunks) buffer.add(chunk)
  t.is(buffer.take().toString(), 'a'.repeat(64 * 1024) + 'b'.repeat(64 * 1024) + 'c'.repeat(10))
  t.deepEqual(
    chunks.map(({ length }) => length),
    [0, 64 * 1024, 10],
  )
})

test('chunk buffer: a single chunk of its own, and chunks of another owner, stay', (t) => {
  const single = new ChunkBuffer({ ownsChunks: true })
  const only = Buffer.alloc(64 * 1024, 'a')
  single.add(only)
  t.is(single.take().length, 64 * 1024)
  const others = new ChunkBuffer()
  for (const chunk of [only, only]) others.add(chunk)
  t.is(others.take().length, 128 * 1024)
  t.is(only.length, 64 * 1024)
})
