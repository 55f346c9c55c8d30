import test from 'ava'
import fc from 'fast-check'
import { LineBuffer } from './line-buffer.ts'

test('line buffer: what comes out is what went in, in order, whatever the sizes', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 300, unit: 'grapheme' })), (lines) => {
      const pieces: string[] = []
      const buffer = new LineBuffer((piece) => void pieces.push(piece), { sizeBytes: 1000, intervalMs: 60_000 })
      for (const line of lines) buffer.add(line)
      buffer.flush()
      return pieces.join('') === lines.join('')
    }),
  )
  t.pass()
})

test('line buffer: a line too long for it goes out at once, after what came before', (t) => {
  const pieces: string[] = []
  const buffer = new LineBuffer((piece) => void pieces.push(piece), { sizeBytes: 64 * 1024, intervalMs: 60_000 })
  buffer.add('first\n')
  buffer.add('x'.repeat(100_000))
  t.deepEqual(
    pieces.map((piece) => piece.length),
    [6, 100_000],
  )
})

test('line buffer: what is held back goes out by itself', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>()
  new LineBuffer(resolve, { sizeBytes: 1000, intervalMs: 1 }).add('late\n')
  t.is(await promise, 'late\n')
})
