import type { ExecutionContext } from 'ava'
import type { QuotaCharge } from '../../../src/core/money/quota-charge.ts'
import type { SpendLedger, SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { ReservationPools } from '../../../src/stores/sql/spend/reservation-pools.ts'
import { type Engine, engines } from './places.ts'

/* Moments in which two things happen to a pool at once; the property of pools takes one step after the other. */

const LEASE_MS = 60_000
/** Never, since the scenarios end periods themselves. */
const NEVER_MS = 3_600_000

async function fixtureOn(t: ExecutionContext, engine: Engine, { slow }: { slow?: 'reserve' | 'flush' } = {}) {
  const { place, store } = await engine.shared()
  const plain = createSpendLedger({ store, log: place.log })
  t.teardown(() => plain.close(10_000))
  const gate = { opened: Promise.resolve() }
  const ledger: SpendLedger = {
    ...plain,
    async reserve(hold) {
      const result = await plain.reserve(hold)
      if (slow === 'reserve' && hold.holdId.endsWith('+')) await gate.opened
      return result
    },
  }
  const charges = new Map<string, QuotaCharge>()
  const pools = new ReservationPools({
    ledger,
    chargeOf: (holdId) => charges.get(holdId.slice(t.title.length + 1)),
    log: place.log,
    periodMs: NEVER_MS,
    async flush(flush) {
      const outcome = await store.run('spend.flush', flush)
      if (slow === 'flush') await gate.opened
      return outcome
    },
  })
  const window: SpendWindow = { scope: t.title, window: 'd:1', limitNanoUsd: 1_000_000_000 }
  const id = (name: string | number) => `${t.title} ${name}`
  const reserve = (name: string | number, amountNanoUsd: number) =>
    pools.reserve({ holdId: id(name), amountNanoUsd, windows: [window], leaseMs: LEASE_MS })
  return {
    pools,
    window,
    charges,
    gate,
    reserve,
    grow: (name: string, toNanoUsd: number) => pools.grow({ holdId: id(name), toNanoUsd, leaseMs: LEASE_MS }),
    settle: (name: string | number, costNanoUsd: number) => pools.settle({ holdId: id(name), costNanoUsd }),
    /** Opens a pool that has some money. */
    async fill(windows: readonly SpendWindow[] = [window], name = 'first') {
      const holdIds = Array.from({ length: 8 }, (_, i) => id(`${name} ${i}`))
      for (const holdId of holdIds) await pools.reserve({ holdId, amountNanoUsd: 100, windows, leaseMs: LEASE_MS })
      await pools.flushAll()
      for (const holdId of holdIds) await pools.settle({ holdId, costNanoUsd: 0 })
    },
    async sums() {
      const [sums] = await plain.spent([window])
      return [sums?.settledNanoUsd, sums?.heldNanoUsd]
    },
  }
}

for (const engine of engines) {
  engine.test('reservation pools: a request that ends while it requests more leaves nothing held', async (t) => {
    const fixture = await fixtureOn(t, engine, { slow: 'reserve' })
    await fixture.fill()
    t.true((await fixture.reserve('a', 50)).ok)
    const { promise, resolve } = Promise.withResolvers<void>()
    fixture.gate.opened = promise
    const growing = fixture.grow('a', 500_000)
    const settling = fixture.settle('a', 100)
    resolve()
    await Promise.all([growing, settling])
    await fixture.pools.close()
    t.deepEqual(await fixture.sums(), [100, 0])
  })

  engine.test('reservation pools: a stop during a flush takes nothing along', async (t) => {
    const fixture = await fixtureOn(t, engine, { slow: 'flush' })
    await fixture.fill()
    for (let i = 0; i < 8; i++) await fixture.reserve(i, 100)
    for (let i = 0; i < 8; i++) await fixture.settle(i, 10)
    const { promise, resolve } = Promise.withResolvers<void>()
    fixture.gate.opened = promise
    void fixture.pools.flushAll()
    const closing = fixture.pools.close()
    resolve()
    await closing
    t.deepEqual(await fixture.sums(), [80, 0])
  })

  engine.test(
    'reservation pools: a request has all that is left to its team, whatever pools of other keys hold',
    async (t) => {
      const { pools, fill, window: own } = await fixtureOn(t, engine)
      const team: SpendWindow = { scope: `team:${t.title}`, window: 'd:1', limitNanoUsd: 1_000_000 }
      await fill([own, team])
      const hold = { holdId: `${t.title} other`, windows: [team], leaseMs: LEASE_MS }
      t.like(await pools.reserve({ ...hold, amountNanoUsd: 1_000_001 }), { ok: false, spentNanoUsd: 0 })
      await fill([own, team], 'again')
      t.like(await pools.reserve({ ...hold, amountNanoUsd: 1_000_000 }), { ok: true })
    },
  )

  engine.test('reservation pools: an absurd cost is charged as held, and spoils no sum', async (t) => {
    const fixture = await fixtureOn(t, engine)
    await fixture.fill()
    await fixture.reserve('odd', 50)
    await fixture.reserve('plain', 50)
    await t.throwsAsync(fixture.settle('odd', Number.MAX_SAFE_INTEGER), { message: /charged as held/ })
    await fixture.settle('plain', 7)
    await fixture.pools.close()
    t.deepEqual(await fixture.sums(), [57, 0])
  })

  engine.test('reservation pools: a plan that refuses leaves nothing held once its request is settled', async (t) => {
    const fixture = await fixtureOn(t, engine)
    await fixture.fill()
    fixture.charges.set('a', {
      order: () => undefined,
      accept() {},
      hold: () => Promise.reject(new Error('no call left')),
    })
    await t.throwsAsync(fixture.reserve('a', 50), { message: 'no call left' })
    await fixture.settle('a', 0)
    await fixture.pools.close()
    t.deepEqual(await fixture.sums(), [0, 0])
  })

  engine.test('reservation pools: a request that was free at its admission may cost money in the end', async (t) => {
    const fixture = await fixtureOn(t, engine)
    await fixture.fill()
    t.true((await fixture.reserve('free', 0)).ok)
    await fixture.pools.flushAll()
    await fixture.pools.flushAll()
    await fixture.settle('free', 1234)
    await fixture.pools.close()
    t.deepEqual(await fixture.sums(), [1234, 0])
  })
}
