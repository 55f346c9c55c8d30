import type { ExecutionContext } from 'ava'
import type { QuotaCharge } from '../../../src/core/money/quota-charge.ts'
import type { SpendLedger, SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { ReservationPools } from '../../../src/stores/sql/spend/reservation-pools.ts'
import { type Engine, engines } from './places.ts'

/* Moments in which two things happen to a pool at once; the property of pools takes one step after the other. */

const LEASE_MS = 60_000
/** Never, since the scenes end periods themselves. */
const NEVER_MS = 3_600_000

async function stageOn(t: ExecutionContext, engine: Engine, { slow }: { slow?: 'reserve' | 'flush' } = {}) {
  const { place, store } = await engine.shared()
  const plain = createSpendLedger({ store, log: place.log })
  t.teardown(() => plain.close())
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
    charges,
    gate,
    reserve,
    grow: (name: string, toNanoUsd: number) => pools.grow({ holdId: id(name), toNanoUsd, leaseMs: LEASE_MS }),
    settle: (name: string | number, costNanoUsd: number) => pools.settle({ holdId: id(name), costNanoUsd }),
    /** Opens a pool that has some money. */
    async fill() {
      for (let i = 0; i < 8; i++) await reserve(`first ${i}`, 100)
      await pools.flushAll()
      for (let i = 0; i < 8; i++) await pools.settle({ holdId: id(`first ${i}`), costNanoUsd: 0 })
    },
    async sums() {
      const [sums] = await plain.spent([window])
      return [sums?.settledNanoUsd, sums?.heldNanoUsd]
    },
  }
}

for (const engine of engines) {
  engine.test('reservation pools: a request that ends while it requests more leaves nothing held', async (t) => {
    const stage = await stageOn(t, engine, { slow: 'reserve' })
    await stage.fill()
    t.true((await stage.reserve('a', 50)).ok)
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.gate.opened = promise
    const growing = stage.grow('a', 500_000)
    const settling = stage.settle('a', 100)
    resolve()
    await Promise.all([growing, settling])
    await stage.pools.close()
    t.deepEqual(await stage.sums(), [100, 0])
  })

  engine.test('reservation pools: a stop during a flush takes nothing along', async (t) => {
    const stage = await stageOn(t, engine, { slow: 'flush' })
    await stage.fill()
    for (let i = 0; i < 8; i++) await stage.reserve(i, 100)
    for (let i = 0; i < 8; i++) await stage.settle(i, 10)
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.gate.opened = promise
    void stage.pools.flushAll()
    const closing = stage.pools.close()
    resolve()
    await closing
    t.deepEqual(await stage.sums(), [80, 0])
  })

  engine.test('reservation pools: an absurd cost is charged as held, and spoils no sum', async (t) => {
    const stage = await stageOn(t, engine)
    await stage.fill()
    await stage.reserve('odd', 50)
    await stage.reserve('plain', 50)
    await t.throwsAsync(stage.settle('odd', Number.MAX_SAFE_INTEGER), { message: /charged as held/ })
    await stage.settle('plain', 7)
    await stage.pools.close()
    t.deepEqual(await stage.sums(), [57, 0])
  })

  engine.test('reservation pools: a plan that refuses leaves nothing held once its request is settled', async (t) => {
    const stage = await stageOn(t, engine)
    await stage.fill()
    stage.charges.set('a', {
      order: () => undefined,
      accept() {},
      hold: () => Promise.reject(new Error('no call left')),
    })
    await t.throwsAsync(stage.reserve('a', 50), { message: 'no call left' })
    await stage.settle('a', 0)
    await stage.pools.close()
    t.deepEqual(await stage.sums(), [0, 0])
  })

  engine.test('reservation pools: a request that was free at its admission may cost money in the end', async (t) => {
    const stage = await stageOn(t, engine)
    await stage.fill()
    t.true((await stage.reserve('free', 0)).ok)
    await stage.pools.flushAll()
    await stage.pools.flushAll()
    await stage.settle('free', 1234)
    await stage.pools.close()
    t.deepEqual(await stage.sums(), [1234, 0])
  })
}
