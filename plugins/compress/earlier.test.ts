import test from 'ava'
import fc from 'fast-check'
import { Earlier } from './earlier.ts'
import { segmentsOf } from './segments.ts'

const TEXT = Array.from({ length: 8 }, (_, index) => `the line that has number ${index}`).join('\n')

function show(earlier: Earlier, text: string): void {
  earlier.begin('Read a.ts')
  for (const segment of segmentsOf(text)) earlier.add(segment)
}

test('earlier: finds the longest run, around the line that it is asked for', (t) => {
  const earlier = new Earlier()
  show(earlier, 'something else that is long')
  show(earlier, TEXT)
  const run = earlier.find(segmentsOf(`a\nb\n${TEXT}`), 5, 1)
  t.like(run, { from: 2, length: 8 })
  t.is(earlier.sourceAt(run?.at ?? 0)?.label, 'Read a.ts')
})

test('earlier: numbered lines are found under other numbers, if they follow each other', (t) => {
  const earlier = new Earlier()
  show(earlier, TEXT)
  const numbered = TEXT.split('\n').map((line, index) => `${index + 40}→${line}`)
  t.is(earlier.find(segmentsOf(numbered.join('\n')), 0, 0)?.length, 8)
  const broken = numbered.map((line, index) => (index < 4 ? line : line.replace(/\d+/, String(index + 90))))
  t.is(earlier.find(segmentsOf(broken.join('\n')), 0, 0)?.length, 4)
})

test('earlier: cut back, it is what it was', (t) => {
  const texts = fc.array(
    fc.array(fc.constantFrom(...TEXT.split('\n'))).map((lines) => lines.join('\n')),
    { minLength: 2 },
  )
  let found = 0
  fc.assert(
    fc.property(texts, fc.nat(8), (all, count) => {
      const [fresh, reused] = [new Earlier(), new Earlier()]
      for (const text of all.slice(0, count)) show(fresh, text)
      for (const text of all.slice(0, count)) show(reused, text)
      const length = reused.length
      for (const text of all.slice(count)) show(reused, text)
      reused.cutBack(length)
      for (const text of all) {
        const segments = segmentsOf(text)
        for (const at of segments.keys()) {
          const run = fresh.find(segments, at, 0)
          if (run !== undefined) found++
          t.deepEqual(reused.find(segments, at, 0), run)
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
