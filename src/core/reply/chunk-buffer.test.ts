import test from 'ava'
import fc from 'fast-check'
import { ChunkBuffer } from './chunk-buffer.ts'

const MB = 1024 * 1024

test('pieces: what is taken is what was added, however it was cut', (t) => {
  let hasCopied = 0
  const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(3000), fc.constantFrom(1023, 1024, 70_000, 400_000)), {
    minLength: 100,
    maxLength: 300,
  })
  fc.assert(
    fc.property(sizes, fc.nat(300), (lengths, taken) => {
      const pieces = new ChunkBuffer()
      const added = lengths.map((length, i) => Buffer.alloc(length, i % 251))
      const given: Buffer[] = []
      for (const [i, piece] of added.entries()) {
        pieces.add(piece)
        // The sender's memory is its own again.
        if (i === taken) given.push(Buffer.from(pieces.take(Buffer.from('last'))))
        hasCopied += piece.length < 1024 ? 1 : 0
      }
      const expected = added.flatMap((piece, i) => (i === taken ? [piece, Buffer.from('last')] : [piece]))
      given.push(pieces.take())
      t.true(Buffer.concat(given).equals(Buffer.concat(expected)))
      t.is(pieces.bytes, 0)
    }),
    { numRuns: 200 },
  )
  t.true(hasCopied > 1000)
})

test('pieces: a single piece is given back without a copy', (t) => {
  const pieces = new ChunkBuffer()
  const only = Buffer.from('only')
  pieces.add(only)
  t.is(pieces.take(), only)
})

test('pieces: a million pieces of one byte take a few megabytes', (t) => {
  const pieces = new ChunkBuffer()
  const slab = Buffer.alloc(1_000_000)
  globalThis.gc?.()
  const before = process.memoryUsage()
  for (let i = 0; i < slab.length; i++) pieces.add(slab.subarray(i, i + 1))
  globalThis.gc?.()
  const after = process.memoryUsage()
  const grownBytes = after.arrayBuffers - before.arrayBuffers
  t.true(grownBytes < 4_000_000, `${grownBytes} bytes of pages`)
  t.is(pieces.take().length, slab.length)
})

test('pieces: megabytes are collected in one block, of which no more is reserved than twice what came', (t) => {
  const pieces = new ChunkBuffer()
  const piece = Buffer.alloc(65_536)
  for (let i = 0; i < 40; i++) {
    pieces.add(piece)
    piece.fill(i + 1) // the sender's memory is its own again beyond a megabyte
  }
  const taken = pieces.take()
  t.is(taken.length, 40 * 65_536)
  t.is(taken.at(-1), 39)
  t.true(taken.buffer.byteLength <= 2 * taken.length)
})

test('pieces: of a length that was announced exactly that is reserved', (t) => {
  const pieces = new ChunkBuffer(3 * MB)
  for (let i = 0; i < 48; i++) pieces.add(Buffer.alloc(65_536, i))
  t.is(pieces.take().buffer.byteLength, 3 * MB)
})

test('pieces: more than was announced is kept, too', (t) => {
  const pieces = new ChunkBuffer(2 * MB)
  for (let i = 0; i < 48; i++) pieces.add(Buffer.alloc(65_536, i))
  t.is(pieces.take(Buffer.from('last')).toString('latin1', 3 * MB), 'last')
})
