import test from 'ava'
import fc from 'fast-check'
import { columnsOf, jsonLine, toWidth, visible } from './visible.ts'

/** Generates texts that are likely to hold terminal control characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b[2J', '\u009b', '\u202e', '\ud800', '模', '👍🏽', 'é', '\u2028', '\u{e0041}', '\n'),
    ),
  )
  .map((parts) => parts.join(''))
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

test('terminal: no control character is left, in text or in JSON, whose value is unchanged', (t) => {
  let changed = 0
  fc.assert(
    fc.property(hostile, (text) => {
      if (visible(text) !== text) changed++
      return (
        !OBEYED.test(visible(text)) && !OBEYED.test(jsonLine({ text })) && JSON.parse(jsonLine({ text })).text === text
      )
    }),
  )
  t.true(changed > 20, `${changed} texts were changed`)
})

test('terminal: a cell has exactly its width for any text', (t) => {
  let cut = 0
  fc.assert(
    fc.property(hostile, fc.integer({ min: 0, max: 30 }), fc.constantFrom('start', 'end'), (text, columns, fill) => {
      const shown = visible(text)
      if (columnsOf(shown) > columns) cut++
      return columnsOf(toWidth(shown, columns, fill as 'start' | 'end')) === columns
    }),
  )
  t.true(cut > 10, `${cut} were cut`)
  t.is(toWidth('模型模型', 6), '模型… ')
  t.is(toWidth('7', 3, 'start'), '  7')
})
