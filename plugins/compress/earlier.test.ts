import test from 'ava'
import fc from 'fast-check'
import { Earlier } from './earlier.ts'
import { segmentsOf } from './segments.ts'

const TEXT = Array.from({ length: 8 }, (_, index) => `the line that has number ${index}`).join('\n')

function show(earlier: Earlier<string>, text: string): void {
  earlier.begin('Read a.ts')
  for (const segment of segmentsOf(text)) earlier.add(segment)
}

test('earlier: finds the longest run around the given line', (t) => {
  const earlier = new Earlier<string>()
  show(earlier, 'something else that is long')
  show(earlier, TEXT)
  const run = earlier.find(segmentsOf(`a\nb\n${TEXT}`), { from: 5, least: 1 })
  t.like(run, { from: 2, length: 8 })
  t.is(earlier.sourceAt(run?.at ?? 0)?.origin, 'Read a.ts')
})

test('earlier: numbered lines match under other consecutive numbers', (t) => {
  const earlier = new Earlier<string>()
  show(earlier, TEXT)
  const numbered = TEXT.split('\n').map((line, index) => `${index + 40}→${line}`)
  t.is(earlier.find(segmentsOf(numbered.join('\n')), { from: 0 })?.length, 8)
  const rows = TEXT.split('\n').map((line, index) => `${40 + 7 * index}→${line}`)
  t.is(earlier.find(segmentsOf(rows.join('\n')), { from: 0 }), undefined)
})

test('earlier: no run spans a gap', (t) => {
  const earlier = new Earlier<string>()
  const segments = segmentsOf(TEXT)
  earlier.begin('Read a.ts')
  for (const segment of segments.slice(0, 4)) earlier.add(segment)
  earlier.gap()
  for (const segment of segments.slice(4)) earlier.add(segment)
  t.like(earlier.find(segments, { from: 0 }), { from: 0, length: 4 })
  t.like(earlier.find(segments, { from: 6 }), { from: 4, length: 4 })
})

test('earlier: cutBack restores the former state', (t) => {
  const texts = fc.array(
    fc.array(fc.constantFrom(...TEXT.split('\n'))).map((lines) => lines.join('\n')),
    { minLength: 2 },
  )
  let found = 0
  fc.assert(
    fc.property(texts, fc.nat(8), (all, count) => {
      const [fresh, reused] = [new Earlier<string>(), new Earlier<string>()]
      for (const text of all.slice(0, count)) show(fresh, text)
      for (const text of all.slice(0, count)) show(reused, text)
      const length = reused.length
      for (const text of all.slice(count)) show(reused, text)
      reused.cutBack(length)
      for (const text of all) {
        const segments = segmentsOf(text)
        for (const at of segments.keys()) {
          const run = fresh.find(segments, { from: at })
          if (run !== undefined) found++
          t.deepEqual(reused.find(segments, { from: at }), run)
        }
      }
    }),
  )
  t.true(found > 50)
})

test('segments: joined they are the text', (t) => {
  const pieces = fc.constantFrom('{"a":1},', '", ', '\n', '12→x', 'word. ', 'x'.repeat(301), '\\n', ' ')
  fc.assert(
    fc.property(fc.array(pieces), (all) => {
      const text = all.join('')
      t.is(
        segmentsOf(text)
          .map((segment) => segment.text)
          .join(''),
        text,
      )
    }),
  )
})
