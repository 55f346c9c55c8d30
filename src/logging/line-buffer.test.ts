import test from 'ava'
import fc from 'fast-check'
import { LineBuffer } from './line-buffer.ts'

const SIZES = { sizeBytes: 2000, intervalMs: 60_000 }

test('line buffer: output equals input, in order, however little is accepted at once', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 300, unit: 'grapheme' })),
      fc.integer({ min: 1, max: 500 }),
      (lines, most) => {
        const pieces: Buffer[] = []
        const buffer = new LineBuffer(
          (bytes) => pieces.push(Buffer.from(bytes.subarray(0, most))) && Math.min(most, bytes.length),
          SIZES,
        )
        for (const line of lines) buffer.add(line)
        buffer.flush()
        return Buffer.concat(pieces).toString() === lines.join('')
      },
    ),
  )
  t.pass()
})

test('line buffer: a slow reader gets the rest later, and lines beyond the bound are dropped', (t) => {
  let open = false
  let written = ''
  const buffer = new LineBuffer((bytes) => {
    if (!open) return 0
    written += bytes.toString()
    return bytes.length
  }, SIZES)
  for (let i = 0; i < 100; i++) buffer.add(`line ${i} ${'x'.repeat(50)}\n`)
  open = true
  buffer.flush()
  t.true(written.startsWith('line 0 '))
  t.true(written.endsWith('x\n'))
  t.true(written.length <= SIZES.sizeBytes)
})

test('line buffer: without a reader it ends, and accepts nothing further', (t) => {
  let calls = 0
  const buffer = new LineBuffer(() => {
    calls++
    throw new Error('EPIPE')
  }, SIZES)
  for (let i = 0; i < 5; i++) {
    buffer.add('line\n')
    buffer.flush()
  }
  t.is(calls, 1)
})

test('line buffer: buffered lines are flushed by a timer', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const write = (bytes: Buffer): number => {
    resolve(bytes.toString())
    return bytes.length
  }
  new LineBuffer(write, { sizeBytes: 1000, intervalMs: 1 }).add('late\n')
  t.is(await promise, 'late\n')
})

test('line buffer: a timer writes what a slow reader did not take, without a further line', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>()
  let calls = 0
  const write = (bytes: Buffer): number => {
    if (++calls === 1) return 0
    resolve(bytes.toString())
    return bytes.length
  }
  const buffer = new LineBuffer(write, { sizeBytes: 1000, intervalMs: 1 })
  buffer.add('the last line\n')
  buffer.flush()
  t.is(await promise, 'the last line\n')
})
