import test from 'ava'
import fc from 'fast-check'
import { ObjectProgress } from './object-progress.ts'

function stateAfter(...pieces: string[]): string {
  const progress = new ObjectProgress()
  for (const piece of pieces) progress.take(piece)
  return progress.state
}

test('object progress: an object is complete at its last brace and not before, at any split', (t) => {
  const object = fc.dictionary(fc.string(), fc.jsonValue())
  t.notThrows(() =>
    fc.assert(
      fc.property(object, fc.nat(), fc.constantFrom(0, 2), (value, at, indent) => {
        const text = JSON.stringify(value, null, indent)
        const cut = at % text.length
        t.is(stateAfter(text.slice(0, cut)), cut === 0 ? 'blank' : 'inside')
        t.is(stateAfter(text.slice(0, cut), text.slice(cut)), 'whole')
      }),
    ),
  )
})

test('object progress: white space before and after an object is ignored', (t) => {
  t.is(stateAfter(' \n', '\t'), 'blank')
  t.is(stateAfter(' {}', '\n '), 'whole')
})

test('object progress: text after an object is excess', (t) => {
  t.is(stateAfter('{}', '{"a":1}'), 'excess')
})

test('object progress: text with another beginning is no object', (t) => {
  for (const text of ['[{}]', 'null', '"{}"', '1']) t.is(stateAfter(text), 'other')
})
