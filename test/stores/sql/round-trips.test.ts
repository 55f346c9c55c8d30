import test from 'ava'
import { openSqlStore } from '../../../src/stores/sql/store.ts'
import { startCountingRelay } from '../../support/counting-relay.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { isPostgresExpected, query } from '../../support/postgres.ts'
import { createRecordingLog } from '../../support/recording-log.ts'
import { openAccount, PLANS } from './credits/accounts.ts'

const testWithPostgres = isPostgresExpected ? test : test.skip
const ACCOUNT = 'user-a'
const LEASE_MS = 60_000
const WINDOWS = ['d:2026-11-21', 'm:2026-11'].flatMap((window) =>
  ['key:a', 'user:a', 'instance'].map((scope) => ({ scope, window, limitNanoUsd: 1000 })),
)

testWithPostgres(
  'round trips: a hold in six windows, with a call or without, takes three with its commit, all ends of a moment one',
  async (t) => {
    const database = await createMigratedDatabase()
    const relay = await startCountingRelay(t, database)
    await openAccount({ sql: (text) => query(database, text) }, { id: ACCOUNT, tier: 'free' })
    const store = await openSqlStore({
      databaseUrl: relay.url,
      dataDir: '',
      log: createRecordingLog(),
      clock: { nowMs: Date.now },
      patienceMs: 60_000,
    })
    t.teardown(() => store.close())
    const holdOf = (holdId: string) => ({ holdId, amountNanoUsd: 10, windows: WINDOWS, leaseMs: LEASE_MS })
    const admit = (id: string) =>
      store.run('spend.admit', {
        hold: holdOf(id),
        call: { holdId: id, accountId: ACCOUNT, calls: 1, plans: PLANS, leaseMs: LEASE_MS },
      })
    const tripsOf = async (work: () => Promise<unknown>) => {
      const before = relay.counts.trips
      await work()
      return relay.counts.trips - before
    }
    // The first of a day creates its windows.
    await admit('first')
    t.is(await tripsOf(() => store.run('spend.reserve', holdOf('a'))), 3)
    t.is(await tripsOf(() => admit('b')), 3)
    t.is(
      await tripsOf(() =>
        store.run(
          'spend.settle',
          ['a', 'b', 'first'].map((holdId) => ({ holdId, costNanoUsd: 5 })),
        ),
      ),
      1,
    )
    const sums = await query(
      database,
      'select distinct settled_nano_usd::int as settled, held_nano_usd::int as held from spend_window',
    )
    t.deepEqual(sums, [{ settled: 15, held: 0 }])
  },
)
