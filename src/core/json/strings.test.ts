import test from 'ava'
import fc from 'fast-check'
import { stringsIn, stringsInJson } from './count-strings.ts'
import { createStringSearch } from './string-search.ts'

const search = createStringSearch('cache_control')

for (const json of [
  '{"cache_control":{}}',
  '{"cache\\u005fcontrol":{}}',
  '{"cache\\u005Fcontrol" : {}}',
  '{"Cache_\\u0043ontrol":1}',
]) {
  test(`string search: finds the name in ${json}`, (t) => {
    t.deepEqual(
      Object.keys(JSON.parse(json)).map((name) => name.toLowerCase()),
      ['cache_control'],
    )
    t.regex(json, search)
  })
}

test('string search: a part of a string is not the string', (t) => {
  t.notRegex('{"cache_controls":1,"a cache_control":"cache\\u005f"}', search)
})

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
