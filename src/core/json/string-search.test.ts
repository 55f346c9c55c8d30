import test from 'ava'
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
