import test from 'ava'
import fc from 'fast-check'
import { RequestDocument } from '../core/request/request.ts'
import { KnownBodies } from './known-bodies.ts'

const bodyOf = (text: string, tail = 'x'): Buffer =>
  Buffer.from(
    JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1, messages: [{ role: 'user', content: text }], tail }),
  )

function counting(): { parse: (bytes: Buffer) => RequestDocument; calls: () => number } {
  let calls = 0
  const parse = (bytes: Buffer): RequestDocument => {
    calls++
    return new RequestDocument(bytes)
  }
  return { parse, calls: () => calls }
}

test('known bodies: from the third time on the same bytes are not parsed again', (t) => {
  const known = new KnownBodies()
  const { parse, calls } = counting()
  for (let i = 0; i < 5; i++) t.deepEqual(known.recognise(bodyOf('hello'), parse).bytes, bodyOf('hello'))
  t.is(calls(), 2)
})

test('known bodies: a body of megabytes is parsed again each time', (t) => {
  const known = new KnownBodies()
  const { parse, calls } = counting()
  const long = bodyOf('x'.repeat(5 * 1024 * 1024))
  for (let i = 0; i < 4; i++) known.recognise(long, parse)
  t.is(calls(), 4)
})

test('known bodies: the cache is bounded to 8 MB; an evicted body is parsed again', (t) => {
  const known = new KnownBodies()
  const { parse, calls } = counting()
  const bodies = Array.from({ length: 12 }, (_, nth) => bodyOf('x'.repeat(750 * 1024), `${nth}`))
  for (const body of bodies) for (let i = 0; i < 3; i++) known.recognise(body, parse)
  t.is(calls(), 24)
  known.recognise(bodies.at(-1) ?? Buffer.alloc(0), parse)
  t.is(calls(), 24)
  known.recognise(bodies[0] ?? Buffer.alloc(0), parse)
  t.is(calls(), 25)
})

test('known bodies: a body that differs in a single byte, anywhere, is parsed separately', (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-y]{1,400}$/), fc.nat(), (text, at) => {
      const known = new KnownBodies()
      const { parse } = counting()
      const first = bodyOf(text)
      for (let i = 0; i < 3; i++) known.recognise(first, parse)
      const other = Buffer.from(first)
      const position = other.indexOf(text) + (at % text.length)
      other[position] = (other[position] ?? 0) ^ 1
      return known.recognise(other, parse).bytes.equals(other)
    }),
  )
  t.pass()
})

test('known bodies: of bodies made of one template, few are kept', (t) => {
  const known = new KnownBodies()
  let kept = 0
  const parse = (bytes: Buffer): RequestDocument =>
    Object.defineProperty(new RequestDocument(bytes), 'shape', { get: () => void kept++ })
  // Their marks are the same: they differ behind the middle and before the end.
  for (let i = 0; i < 1000; i++) known.recognise(bodyOf(`${'x'.repeat(500)}${1000 + i}`, 'y'.repeat(100)), parse)
  t.true(kept > 0 && kept <= 30, `${kept}`)
})

test('known bodies: a body that repeats among others of its mark is kept again', (t) => {
  const known = new KnownBodies()
  const { parse, calls } = counting()
  const nth = (i: number) => bodyOf(`${'x'.repeat(500)}${1000 + i}`, 'y'.repeat(100))
  for (let i = 0; i < 1000; i++) known.recognise(nth(i), parse)
  for (let i = 0; i < 70; i++) known.recognise(nth(0), parse)
  const before = calls()
  known.recognise(nth(0), parse)
  t.is(calls(), before)
})

test('known bodies: results about the bytes are shared, values are not', (t) => {
  const known = new KnownBodies()
  const { parse } = counting()
  const [, second, third, fourth] = Array.from({ length: 4 }, () => known.recognise(bodyOf('hello'), parse))
  t.is(third?.shape, fourth?.shape)
  t.not(second?.messages, third?.messages)
  t.not(third?.messages, fourth?.messages)
  t.deepEqual(third?.messages, fourth?.messages)
})

test('known bodies: a body that is refused is refused again', (t) => {
  const known = new KnownBodies()
  const refuse = (): RequestDocument => {
    throw new Error('no')
  }
  for (let i = 0; i < 4; i++) t.throws(() => known.recognise(bodyOf('bad'), refuse), { message: 'no' })
})
