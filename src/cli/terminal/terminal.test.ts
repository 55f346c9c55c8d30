import test from 'ava'
import fc from 'fast-check'
import { count, duration, fineUsd, usd } from './figures.ts'
import { columnsOf, jsonLine, toWidth, visible } from './visible.ts'

const NANO = 1e9

test('figures: dollars keep their sign and fit in eight characters', (t) => {
  const amounts: [dollars: number, text: string][] = [
    [0, '$0'],
    [0.00001, '<$.0001'],
    [0.0001, '$0.0001'],
    [0.0999, '$0.0999'],
    [0.1, '$0.10'],
    [12.345, '$12.35'],
    [999.99, '$999.99'],
    [1000, '$1K'],
    [1_234_567, '$1.2M'],
  ]
  for (const [dollars, text] of amounts) {
    t.is(usd(dollars * NANO), text)
    if (dollars > 0) t.is(usd(-dollars * NANO), `-${text}`)
    t.true(text.length < 8, text)
  }
  t.is(usd(null), '–')
  t.deepEqual([fineUsd(1_234_567), fineUsd(-2000), fineUsd(null)], ['$0.001235', '$-0.000002', '–'])
})

test('figures: a count has at most four characters', (t) => {
  const counts = {
    0: '0',
    999: '999',
    1000: '1K',
    1234: '1.2K',
    9949: '9.9K',
    9950: '10K',
    123456: '123K',
    1234567: '1M',
  }
  for (const [amount, text] of Object.entries(counts)) t.is(count(Number(amount)), text, amount)
})

test('figures: a duration has at most six characters, and is in seconds from one on', (t) => {
  const times: [ms: number, text: string][] = [
    [0, '0.0ms'],
    [9.94, '9.9ms'],
    [9.95, '10ms'],
    [999.4, '999ms'],
    [999.5, '1.00s'],
    [9994, '9.99s'],
    [9995, '10.0s'],
    [99_949, '99.9s'],
    [99_950, '100s'],
  ]
  for (const [ms, text] of times) t.is(duration(ms), text, `${ms}`)
  t.is(duration(null), '–')
})

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
