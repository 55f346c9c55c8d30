import type { StoredResponse } from '../../../src/core/ports/stored-responses.ts'
import { createStoredResponses } from '../../../src/stores/sql/responses/stored-responses.ts'
import { eventually } from '../../support/eventually.ts'
import { engines } from './places.ts'

const DAY_MS = 86_400_000
const BOUNDS = { ttlMs: DAY_MS, mostOfCaller: 3, mostBytes: 1_000_000 }

const responseOf = (scope: string, id: string, content: string | null = null): StoredResponse => ({
  scope,
  id,
  provider: 'openai',
  account: 'digest',
  tokens: 7,
  content,
})

for (const engine of engines) {
  engine.test('stored responses: each caller has its own, at most so many, until they expire', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const responses = createStoredResponses({ store, ...BOUNDS, log: place.log })
    t.teardown(() => responses.close())
    await responses.put(responseOf('other', 'r1'))
    for (const id of ['r1', 'r2', 'r3', 'r4', 'r5']) {
      await place.sql('update stored_response set created_at_ms = created_at_ms - 10')
      await responses.put({ ...responseOf('mine', id), tokens: null })
    }
    const found = await Promise.all(['r1', 'r2', 'r3', 'r4', 'r5'].map((id) => responses.find('mine', id)))
    t.deepEqual(
      found.map((each) => each?.id),
      [undefined, undefined, 'r3', 'r4', 'r5'],
    )
    t.is(found[4]?.tokens, null)
    t.deepEqual(await responses.find('other', 'r1'), responseOf('other', 'r1'))
    await responses.put(responseOf('other', 'r1', '{"a":1}'))
    t.is((await responses.find('other', 'r1'))?.content, '{"a":1}')
    await responses.delete('mine', 'r5')
    t.is(await responses.find('mine', 'r5'), undefined)
    await place.sql(`update stored_response set expires_at_ms = 1 where id = 'r4'`)
    t.is(await responses.find('mine', 'r4'), undefined)
    t.is(await store.run('responses.prune-expired', {}), 1)
  })

  engine.test('stored responses: beyond the bytes of all, the oldest are deleted', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const put = (id: string) => store.run('responses.put', { ...responseOf(id, id, 'x'.repeat(10_000)), ...BOUNDS })
    for (const id of ['a', 'b', 'c', 'd']) {
      await place.sql('update stored_response set created_at_ms = created_at_ms - 10')
      await put(id)
    }
    const bytes = (await store.run('responses.sum', {})) - 25_000
    t.true((await store.run('responses.prune-oldest', { bytes })) >= bytes)
    const rows = await place.sql('select id from stored_response order by id')
    t.deepEqual(
      rows.map(({ id }) => id),
      ['c', 'd'],
    )
  })

  engine.test(
    'stored responses: the sizes of all rows are read once in a share of the bound, not for every few',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const sums: unknown[] = []
      const run: typeof store.run = (name, input) => {
        if (name.startsWith('responses.prune') || name === 'responses.sum') sums.push(name)
        return store.run(name, input)
      }
      const responses = createStoredResponses({ store: { run }, ...BOUNDS, mostOfCaller: 1000, log: place.log })
      for (let n = 0; n < 300; n++) await responses.put(responseOf('mine', `r${n}`))
      await responses.close()
      t.true(sums.length < 20, `${sums.length} commands`)
      const small = createStoredResponses({ store, ...BOUNDS, mostOfCaller: 1000, mostBytes: 64_000, log: place.log })
      for (let n = 0; n < 10; n++) await small.put(responseOf('mine', `s${n}`))
      await t.notThrowsAsync(eventually(async () => (await store.run('responses.sum', {})) <= 64_000, 'few bytes'))
      await small.close()
    },
  )
}
