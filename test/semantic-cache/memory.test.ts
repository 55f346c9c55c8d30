import test from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

const SURROUNDINGS =
  'of the winter tyres, wooden ladders, copper kettles and garden lamps in the old garage behind the house'
const LONG = Array.from({ length: 30 }, () => SURROUNDINGS).join(' and ')
const MANY = 200
const NAMES = 'abcdefghijklmnopqrstuvwxyz'

test('semantic-cache: texts beyond `max_entries_memory` evict the least recently used', async (t) => {
  const fixture = await startSharedFixture({
    config: { plugins: { 'semantic-cache': { persist: false, max_entries_memory: '1MB', max_words: 1000 } } },
  })
  t.teardown(() => fixture.close())
  const pipe = 'semantic-cache?mode=threshold&threshold=0.9'
  const subject = (n: number) => `${NAMES[n % 26]}${NAMES[Math.floor(n / 26) % 26]}x${NAMES[Math.floor(n / 676)]}b`
  const ask = (verb: string, n: number) =>
    fixture.ask(`How do I ${verb} the ${subject(n)} ${subject(n)} ${LONG}?`, { pipe, extra: { system: `No. ${n}` } })
  for (let n = 0; n < MANY; n++) await ask('find', n)
  t.is(stateOf(await ask('see', MANY - 1)), 'semantic')
  t.is(stateOf(await ask('see', 0)), 'miss')
})
