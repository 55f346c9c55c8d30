import test from 'ava'
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { headsOf, nodesOf, unionOf } from '../../../src/stores/sql/receipts/stored-tree.ts'
import { toBatch } from '../../support/receipts.ts'
import { createSqlitePlace, engines } from './places.ts'

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

/** Prints statements for SQLite. */
const printer = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

test('ledger: SQLite searches for the parts of a list’s proofs, and scans no table', async (t) => {
  const place = await createSqlitePlace(t)
  await place.open()
  const tiles = Array.from({ length: 100 }, (_, i) => ({ level: 4, from: i * 16 }))
  const ranges = tiles.map(({ from }) => ({ from, to: from + 16 }))
  const selects: RawBuilder<unknown>[][] = [ranges.map(headsOf), tiles.map(nodesOf)]
  for (const each of selects) {
    const { sql } = unionOf(each).compile(printer)
    const steps = (await place.sql(`explain query plan ${sql}`)).map(({ detail }) => String(detail))
    t.true(steps.filter((step) => step.startsWith('SEARCH')).length >= 100)
    t.deepEqual(
      steps.filter((step) => step.startsWith('SCAN')),
      [],
    )
  }
})
