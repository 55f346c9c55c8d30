import test from 'ava'
import fc from 'fast-check'
import { stringsIn, stringsInJson } from './count-strings.ts'

test('strings: a value and its JSON text have the same number', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      t.is(stringsInJson(JSON.stringify(value)), stringsIn(value))
    }),
  )
})

test('strings: a member that a later one hides counts in the text alone', (t) => {
  const json = String.raw`{"a":"one","a":"\\\"two"}`
  t.is(stringsInJson(json), 4)
  t.is(stringsIn(JSON.parse(json)), 2)
})
