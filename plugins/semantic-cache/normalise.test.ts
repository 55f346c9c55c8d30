import test from 'ava'
import { literalReasonOf } from './eligibility.ts'
import { LONGEST_KEPT, normaliseText } from './normalise.ts'

const LIMITS = { maxWords: 400, maxTemperature: 1 }

test('normaliseText: a text of megabytes is looked up by a unique digest', (t) => {
  const long = 'a'.repeat(LONGEST_KEPT + 1)
  const key = normaliseText(long)
  t.true(key.length < 100)
  t.is(normaliseText(long), key)
  t.not(normaliseText(` ${long}`), key)
  t.not(normaliseText(key), key)
  for (const text of [long, key]) t.is(literalReasonOf(text, LIMITS), 'long')
  t.is(normaliseText('a '.repeat(100)).length, 199)
})
