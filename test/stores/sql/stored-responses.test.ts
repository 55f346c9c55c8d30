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
  conversation: 'conv_of-response',
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

  engine.test(
    'stored responses: beyond the bytes of all, those with the most lose their oldest, and no other caller any',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const put = (scope: string, id: string, bytes: number) =>
        store.run('responses.put', { ...responseOf(scope, id, 'x'.repeat(bytes)), ...BOUNDS, mostOfCaller: 1000 })
      const older = () => place.sql('update stored_response set created_at_ms = created_at_ms - 10')
      for (const id of ['a', 'b']) await put('modest', id, 10_000)
      for (let n = 0; n < 9; n++) {
        await older()
        await put('greedy', `g${n}`, 10_000)
      }
      const responses = createStoredResponses({
        store,
        ...BOUNDS,
        mostOfCaller: 1000,
        mostBytes: 64_000,
        log: place.log,
      })
      await responses.put(responseOf('late', 'l', 'x'.repeat(2000)))
      await eventually(async () => (await store.run('responses.sum', {})).bytes <= 64_000, 'few bytes')
      await responses.close()
      const rows = await place.sql('select scope, id from stored_response order by scope, id')
      const idsOf = (of: string) => rows.filter(({ scope }) => scope === of).map(({ id }) => id)
      t.deepEqual(idsOf('modest'), ['a', 'b'])
      t.deepEqual(idsOf('late'), ['l'])
      t.deepEqual(idsOf('greedy'), ['g5', 'g6', 'g7', 'g8'].slice(-idsOf('greedy').length))
      t.true(idsOf('greedy').length >= 2)
    },
  )

  engine.test('stored responses: those of a key end with it', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const columns = '(id, account_id, hash, prefix, created_at_ms, revoked_at_ms)'
    await place.sql(`insert into account (id, tier, posted_credits, held_credits, entry_seq, created_at_ms)
      values ('u', 'free', 0, 0, 0, 1)`)
    await place.sql(
      `insert into api_key ${columns} values ('gone', 'u', 'h1', 'p', 1, 2), ('kept', 'u', 'h2', 'p', 1, null)`,
    )
    for (const scope of ['key:gone', 'key:kept', 'local:x'])
      await store.run('responses.put', { ...responseOf(scope, 'r', '{}'), ...BOUNDS })
    t.is(await store.run('responses.prune-revoked', { withinMs: DAY_MS }), 0)
    await place.sql(`update api_key set revoked_at_ms = ${Date.now()} where id = 'gone'`)
    t.is(await store.run('responses.prune-revoked', { withinMs: DAY_MS }), 1)
    const rows = await place.sql('select scope from stored_response order by scope')
    t.deepEqual(
      rows.map(({ scope }) => scope),
      ['key:kept', 'local:x'],
    )
  })

  engine.test(
    'stored responses: the sizes of all rows are read once in a share of the bound, not for every few',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const sums: unknown[] = []
      const run: typeof store.run = (name, input) => {
        if (name === 'responses.prune-oldest' || name === 'responses.sum') sums.push(name)
        return store.run(name, input)
      }
      const responses = createStoredResponses({ store: { run }, ...BOUNDS, mostOfCaller: 1000, log: place.log })
      for (let n = 0; n < 300; n++) await responses.put(responseOf('mine', `r${n}`))
      await responses.close()
      t.true(sums.length < 20, `${sums.length} commands`)
      const small = createStoredResponses({ store, ...BOUNDS, mostOfCaller: 1000, mostBytes: 64_000, log: place.log })
      for (let n = 0; n < 10; n++) await small.put(responseOf('mine', `s${n}`))
      await t.notThrowsAsync(
        eventually(async () => (await store.run('responses.sum', {})).bytes <= 64_000, 'few bytes'),
      )
      await small.close()
    },
  )
}
