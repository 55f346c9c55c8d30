import test from 'ava'
import fc from 'fast-check'
import { unsaid } from './needs.ts'
import { splitWords } from './split.ts'
import { stem } from './stem.ts'
import { directionOf, loadVectors, packVectors, similarity, unpackVectors } from './vectors.ts'

const vectors = loadVectors()
const near = (a: string, b: string) => {
  const [left, right] = [a, b].map((text) =>
    directionOf(
      vectors,
      splitWords(text).map((word) => [word, 1] as const),
    ),
  )
  return left !== undefined && right !== undefined ? similarity(left, right) : 0
}

for (const forms of [
  ['train', 'trains', 'training', 'trained'],
  ['query', 'queries', 'queried'],
  ['plan', 'plans', 'planning', 'planned'],
  ['create', 'creates', 'creating', 'created'],
  ['process', 'processes', 'processing'],
  ['search', 'searches', 'searching'],
]) {
  test(`words: ${forms.join(', ')} have one stem`, (t) =>
    t.is(new Set(forms.map(stem)).size, 1, forms.map(stem).join()))
}

for (const [text, expected] of [
  ['readFile', ['read', 'file']],
  ['PDFReader_v2', ['pdf', 'reader']],
  ['Please get me the weather', ['weather']],
  ['list-issues of 12 repos', ['list', 'issues', '12', 'repos']],
  ['天气', ['天', '气', 'weather']],
  ['', []],
] as const) {
  test(`words: ${JSON.stringify(text)} is split`, (t) => t.deepEqual(splitWords(text), [...expected]))
}

test('words: texts of similar meaning have similar directions', (t) => {
  t.true(near('physician', 'doctor') > near('physician', 'invoice') + 0.2)
  t.true(near('purchase a car', 'buy vehicle') > near('purchase a car', 'rainy weather') + 0.2)
  t.is(near('xqzzt', 'doctor'), 0)
})

test('words: a tour near the station next Monday needs a date and coordinates', (t) => {
  const meant = unsaid(new Map(splitWords('A tour near the station next Monday').map((word) => [stem(word), 1])))
  for (const word of ['date', 'geocode', 'coordinates']) t.true(meant.has(stem(word)), word)
  t.false(meant.has(stem('station')))
})

test('words: decodes the encoded vectors, in 15 steps', (t) => {
  const value = fc.double({ min: -1, max: 1, noNaN: true })
  const check = fc.check(
    fc.property(fc.array(value, { minLength: 64, maxLength: 64 }), (vector) => {
      const { rows, values } = unpackVectors(packVectors(['zero', 'word'], [new Array(64).fill(0), vector]))
      const largest = Math.max(...vector.map(Math.abs)) || 1
      const start = 64 * (rows.get('word') ?? -1)
      return vector.every(
        (each, i) => Math.abs((values[start + i] ?? Number.NaN) / 7 - each / largest) <= 1 / 14 + 1e-9,
      )
    }),
  )
  t.false(check.failed, String(check.counterexample))
})
