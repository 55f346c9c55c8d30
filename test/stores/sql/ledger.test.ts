import type { ExecutionContext } from 'ava'
import type { Reservation, SpendWindow } from '../../../src/core/ports.ts'
import { createSpendLedger, type SqlSpendLedger } from '../../../src/stores/sql/spend-ledger.ts'
import { type Engine, endLeases, engines, type Place } from './places.ts'

const LEASE_MS = 60_000
const DAY: SpendWindow = { scope: 'key-1', window: 'd:2026-11-30', limitNanoUsd: 100 }
const MONTH: SpendWindow = { scope: 'key-1', window: 'm:2026-11', limitNanoUsd: 150 }

interface Stage {
  readonly ledger: SqlSpendLedger
  readonly place: Place
  /** Holds an amount under an id, in the day and the month. */
  hold(holdId: string, amountNanoUsd: number, windows?: readonly SpendWindow[]): Promise<Reservation>
  /** `[settled, held]` of the day and the month. */
  sums(): Promise<number[][]>
}

async function stageOn(t: ExecutionContext, engine: Engine): Promise<Stage> {
  const place = await engine.createPlace(t)
  const ledger = createSpendLedger({ store: await place.open(), log: place.log })
  t.teardown(() => ledger.close())
  return {
    ledger,
    place,
    hold: (holdId, amountNanoUsd, windows = [MONTH, DAY]) =>
      ledger.reserve({ holdId, amountNanoUsd, windows, leaseMs: LEASE_MS }),
    sums: async () =>
      (await ledger.spent([DAY, MONTH])).map(({ settledNanoUsd, heldNanoUsd }) => [settledNanoUsd, heldNanoUsd]),
  }
}

for (const engine of engines) {
  engine.test('ledger: an amount that just fits is held in all windows', async (t) => {
    const { hold, sums } = await stageOn(t, engine)
    t.deepEqual(await hold('a', 40), { ok: true })
    t.deepEqual(await hold('b', 60), { ok: true })
    t.deepEqual(await sums(), [
      [0, 100],
      [0, 100],
    ])
  })

  engine.test('ledger: one that does not is refused by its window, and held in none', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    await hold('a', 80)
    t.deepEqual(await hold('b', 21), { ok: false, refusedBy: DAY, spentNanoUsd: 80 })
    await ledger.settle({ holdId: 'a', costNanoUsd: 80 })
    const tomorrow = { ...DAY, window: 'd:2026-12-01' }
    t.deepEqual(await hold('c', 71, [tomorrow, MONTH]), { ok: false, refusedBy: MONTH, spentNanoUsd: 80 })
    t.deepEqual(await sums(), [
      [80, 0],
      [80, 0],
    ])
    t.deepEqual(await ledger.spent([tomorrow]), [{ settledNanoUsd: 0, heldNanoUsd: 0 }])
  })

  engine.test('ledger: more than the limit is refused by a window in which nothing is', async (t) => {
    const { hold } = await stageOn(t, engine)
    t.deepEqual(await hold('a', 101), { ok: false, refusedBy: DAY, spentNanoUsd: 0 })
    const none = { ...DAY, limitNanoUsd: 0 }
    t.deepEqual(await hold('a', 1, [none]), { ok: false, refusedBy: none, spentNanoUsd: 0 })
  })

  engine.test('ledger: a hold grows while it fits, and stays as it was when it does not', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    await hold('a', 10)
    await hold('b', 30)
    t.deepEqual(await ledger.grow({ holdId: 'a', toNanoUsd: 70, leaseMs: LEASE_MS }), { ok: true })
    const refused = await ledger.grow({ holdId: 'a', toNanoUsd: 71, leaseMs: LEASE_MS })
    t.deepEqual(refused, { ok: false, refusedBy: DAY, spentNanoUsd: 100 })
    t.deepEqual(await ledger.grow({ holdId: 'a', toNanoUsd: 5, leaseMs: LEASE_MS }), { ok: true })
    t.deepEqual(await sums(), [
      [0, 100],
      [0, 100],
    ])
  })

  engine.test('ledger: a settled hold counts what it cost, once, and frees the rest', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    await hold('a', 100)
    await ledger.settle({ holdId: 'a', costNanoUsd: 30 })
    await ledger.settle({ holdId: 'a', costNanoUsd: 31 })
    t.deepEqual(await sums(), [
      [30, 0],
      [30, 0],
    ])
    t.deepEqual(await hold('b', 70), { ok: true })
  })

  engine.test('ledger: a cost beyond the hold and the limit is told as it is', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    await hold('a', 10)
    await ledger.settle({ holdId: 'a', costNanoUsd: 120 })
    t.deepEqual(await sums(), [
      [120, 0],
      [120, 0],
    ])
    t.deepEqual(await hold('b', 1), { ok: false, refusedBy: DAY, spentNanoUsd: 120 })
  })

  engine.test('ledger: when others overspent, a hold may still be renewed', async (t) => {
    const { hold, ledger } = await stageOn(t, engine)
    await hold('a', 10)
    await hold('b', 10)
    await ledger.settle({ holdId: 'b', costNanoUsd: 500 })
    t.deepEqual(await ledger.grow({ holdId: 'a', toNanoUsd: 10, leaseMs: LEASE_MS }), { ok: true })
  })

  engine.test('ledger: a hold whose lease has ended counts in full until its cost is told', async (t) => {
    const { hold, sums, ledger, place } = await stageOn(t, engine)
    await hold('a', 40)
    await hold('b', 10)
    await endLeases(place, ['a'])
    await ledger.sweep()
    t.deepEqual(await sums(), [
      [40, 10],
      [40, 10],
    ])
    t.true(place.log.events().includes('spend.holds-expired'))
    await ledger.settle({ holdId: 'a', costNanoUsd: 15 })
    t.deepEqual(await sums(), [
      [15, 10],
      [15, 10],
    ])
    t.true(place.log.events().includes('spend.corrected'))
  })

  engine.test('ledger: a hold whose lease has ended is held again when it grows', async (t) => {
    const { hold, sums, ledger, place } = await stageOn(t, engine)
    await hold('a', 40)
    await endLeases(place)
    await ledger.sweep()
    t.deepEqual(await ledger.grow({ holdId: 'a', toNanoUsd: 60, leaseMs: LEASE_MS }), { ok: true })
    await ledger.sweep()
    t.deepEqual(await sums(), [
      [0, 60],
      [0, 60],
    ])
  })

  engine.test('ledger: growing renews the lease', async (t) => {
    const { hold, sums, ledger, place } = await stageOn(t, engine)
    await hold('a', 40)
    await endLeases(place)
    await ledger.grow({ holdId: 'a', toNanoUsd: 40, leaseMs: LEASE_MS })
    await ledger.sweep()
    t.deepEqual((await sums())[0], [0, 40])
  })

  engine.test('ledger: the same hold twice is held once', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    const both = await Promise.all([hold('a', 60), hold('a', 60)])
    t.deepEqual(both, [{ ok: true }, { ok: true }])
    t.deepEqual((await sums())[0], [0, 60])
    await ledger.settle({ holdId: 'a', costNanoUsd: 60 })
    await t.throwsAsync(hold('a', 60), { code: 'internal_error', message: /has ended/ })
  })

  engine.test('ledger: an unknown hold is a fault', async (t) => {
    const { ledger } = await stageOn(t, engine)
    const unknown = { code: 'internal_error', message: /\bx\b/ }
    await t.throwsAsync(ledger.settle({ holdId: 'x', costNanoUsd: 1 }), unknown)
    await t.throwsAsync(ledger.grow({ holdId: 'x', toNanoUsd: 1, leaseMs: LEASE_MS }), unknown)
  })

  engine.test('ledger: money is whole and not negative', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    await hold('a', 10)
    for (const amount of [0.5, -1, Number.NaN, 2 ** 53]) {
      await t.throwsAsync(hold('b', amount), { code: 'internal_error' })
      await t.throwsAsync(ledger.settle({ holdId: 'a', costNanoUsd: amount }), { code: 'internal_error' })
    }
    t.deepEqual((await sums())[0], [0, 10])
  })

  engine.test('ledger: large amounts are exact', async (t) => {
    const { hold, ledger } = await stageOn(t, engine)
    const wide = { ...DAY, limitNanoUsd: Number.MAX_SAFE_INTEGER }
    t.deepEqual(await hold('a', 2 ** 53 - 2, [wide]), { ok: true })
    t.like(await hold('b', 2, [wide]), { ok: false, spentNanoUsd: 2 ** 53 - 2 })
    t.deepEqual(await hold('c', 1, [wide]), { ok: true })
    t.deepEqual(await ledger.spent([wide]), [{ settledNanoUsd: 0, heldNanoUsd: 2 ** 53 - 1 }])
  })

  engine.test('ledger: ended holds are forgotten in time, and what they cost is not', async (t) => {
    const { hold, sums, ledger, place } = await stageOn(t, engine)
    await hold('a', 10)
    await hold('b', 10)
    await ledger.settle({ holdId: 'a', costNanoUsd: 7 })
    await ledger.sweep()
    t.is((await place.sql('select id from spend_hold')).length, 2)
    await place.sql(`update spend_hold set due_at_ms = 0 where id = 'a'`)
    await ledger.sweep()
    t.deepEqual(await place.sql('select id, state from spend_hold'), [Object.assign({}, { id: 'b', state: 'open' })])
    t.deepEqual((await sums())[0], [7, 10])
  })

  engine.test('ledger: of 500 at once exactly those are admitted that fit', async (t) => {
    const { hold, sums, ledger } = await stageOn(t, engine)
    const user = { scope: 'user-1', window: DAY.window, limitNanoUsd: 1100 }
    const windows = [{ ...DAY, limitNanoUsd: 1000 }, user]
    const results = await Promise.all(Array.from({ length: 500 }, (_, i) => hold(`h${i}`, 10, windows)))
    const refused = results.filter((result) => !result.ok)
    t.is(refused.length, 400)
    t.true(refused.every((result) => !result.ok && result.spentNanoUsd + 10 > result.refusedBy.limitNanoUsd))
    t.deepEqual((await sums())[0], [0, 1000])
    t.deepEqual(await ledger.spent([user]), [{ settledNanoUsd: 0, heldNanoUsd: 1000 }])
  })

  engine.test('ledger: more holds than one sweep takes all expire', async (t) => {
    const { hold, sums, ledger, place } = await stageOn(t, engine)
    await Promise.all(Array.from({ length: 250 }, (_, i) => hold(`h${i}`, 1, [{ ...DAY, limitNanoUsd: 1000 }])))
    await endLeases(place)
    await ledger.sweep()
    t.deepEqual((await sums())[0], [250, 0])
  })
}
