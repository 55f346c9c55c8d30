import test from 'ava'
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { headsOf, nodesOf, unionOf } from '../../../src/stores/sql/receipts/stored-tree.ts'
import { createSqlitePlace } from './places.ts'

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
