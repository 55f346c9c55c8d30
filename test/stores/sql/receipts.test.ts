import { toBatch } from '../../support/receipts.ts'
import { engines } from './places.ts'

function receipt(id: string, createdAtMs: number, scope = 'mine') {
  return { id, scope, createdAtMs, json: `{"cost":1.0,"id":"${id}"}` }
}

for (const engine of engines) {
  engine.test('receipts: one is found by its scope, as the text that was put', async (t) => {
    const { store } = await engine.shared()
    const found = receipt('found', 1)
    await store.run('receipt.put', toBatch([found]))
    t.is((await store.run('receipt.get', { id: 'found', scope: 'mine' }))?.json, found.json)
    t.is(await store.run('receipt.get', { id: 'found', scope: 'yours' }), undefined)
    t.is(await store.run('receipt.get', { id: 'missing', scope: 'mine' }), undefined)
  })

  engine.test('receipts: putting one again changes nothing, alone and among others', async (t) => {
    const { store } = await engine.shared()
    const again = receipt('again', 1)
    await store.run('receipt.put', toBatch([again]))
    const first = await store.run('receipt.get', { id: 'again', scope: 'mine' })
    const others = [{ ...again, scope: 'yours', json: '{}' }, receipt('more', 1), receipt('more', 1)]
    await store.run('receipt.put', toBatch(others.slice(0, 1)))
    await store.run('receipt.put', toBatch(others))
    t.deepEqual(await store.run('receipt.get', { id: 'again', scope: 'mine' }), first)
    t.is(await store.run('receipt.get', { id: 'again', scope: 'yours' }), undefined)
    t.truthy(await store.run('receipt.get', { id: 'more', scope: 'mine' }))
  })

  engine.test('receipts: no page is longer than a hundred and one', async (t) => {
    const { store } = await engine.shared()
    const many = Array.from({ length: 120 }, (_, i) => receipt(`many-${i}`, i, 'many'))
    await store.run('receipt.put', toBatch(many))
    t.is((await store.run('receipt.list', { scope: 'many', limit: 500 })).length, 101)
  })
}
