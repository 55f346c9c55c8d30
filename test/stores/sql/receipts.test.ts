import fc from 'fast-check'
import { engines } from './places.ts'

function receipt(id: string, createdAtMs: number, scope = 'mine') {
  return { id, scope, createdAtMs, json: '{"cost":1.0}' }
}

for (const engine of engines) {
  engine.test('receipts: one is found by its scope, as the text that was put', async (t) => {
    const { store } = await engine.shared()
    await store.run('receipt.put', [receipt('found', 1)])
    t.is(await store.run('receipt.get', { id: 'found', scope: 'mine' }), '{"cost":1.0}')
    t.is(await store.run('receipt.get', { id: 'found', scope: 'yours' }), undefined)
    t.is(await store.run('receipt.get', { id: 'missing', scope: 'mine' }), undefined)
  })

  engine.test('receipts: putting one again changes nothing', async (t) => {
    const { store } = await engine.shared()
    await store.run('receipt.put', [receipt('again', 1)])
    await store.run('receipt.put', [{ ...receipt('again', 2, 'yours'), json: '{}' }])
    t.is(await store.run('receipt.get', { id: 'again', scope: 'mine' }), '{"cost":1.0}')
    t.is(await store.run('receipt.get', { id: 'again', scope: 'yours' }), undefined)
  })

  engine.test('receipts: a list page by page has each of the scope once, newest first', async (t) => {
    const { store } = await engine.shared()
    let lists = 0
    const moments = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 25 })
    const check = async (times: readonly number[], limit: number) => {
      const scope = `scope-${++lists}`
      const put = times.map((createdAtMs, i) => receipt(`${scope}-${i}`, createdAtMs, scope))
      await store.run('receipt.put', [...put, receipt(`other-${lists}`, 3, 'other')])
      const listed: ReturnType<typeof receipt>[] = []
      for (;;) {
        const page: readonly (typeof listed)[number][] = await store.run('receipt.list', {
          scope,
          after: listed.at(-1),
          limit,
        })
        t.true(page.length <= limit)
        if (page.length === 0) break
        listed.push(...page)
      }
      const newestFirst = put.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
      t.deepEqual(listed, newestFirst)
    }
    await fc.assert(fc.asyncProperty(moments, fc.integer({ min: 1, max: 10 }), check), { numRuns: 15 })
  })

  engine.test('receipts: no page is longer than a hundred', async (t) => {
    const { store } = await engine.shared()
    const many = Array.from({ length: 120 }, (_, i) => receipt(`many-${i}`, i, 'many'))
    await store.run('receipt.put', many)
    t.is((await store.run('receipt.list', { scope: 'many', limit: 500 })).length, 100)
  })
}
