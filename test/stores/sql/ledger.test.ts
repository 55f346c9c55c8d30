import type { ExecutionContext } from 'ava'
import type { Reservation, SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { createSpendLedger, type SqlSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { type Engine, endLeases, engines, type Place } from './places.ts'

const LEASE_MS = 60_000

interface Fixture {
  readonly ledger: SqlSpendLedger
  readonly place: Place
  /** Windows of the test's own: 100 a day, 150 a month. */
  readonly day: SpendWindow
  readonly month: SpendWindow
  /** A hold's id is the test's own, too. */
  readonly id: (name: string) => string
  /** Holds an amount, in the day and the month. */
  hold(name: string, amountNanoUsd: number, windows?: readonly SpendWindow[]): Promise<Reservation>
  grow(name: string, toNanoUsd: number): Promise<Reservation>
  settle(name: string, costNanoUsd: number): Promise<void>
  /** `[settled, held]` of the day and the month. */
  sums(): Promise<number[][]>
}

async function fixtureOn(t: ExecutionContext, engine: Engine): Promise<Fixture> {
  const { place, store } = await engine.shared()
  const ledger = createSpendLedger({ store, log: place.log })
  t.teardown(() => ledger.close(10_000))
  const day: SpendWindow = { scope: t.title, window: 'd:2026-11-30', limitNanoUsd: 100 }
  const month: SpendWindow = { scope: t.title, window: 'm:2026-11', limitNanoUsd: 150 }
  const id = (name: string) => `${t.title} ${name}`
  return {
    ledger,
    place,
    day,
    month,
    id,
    hold: (name, amountNanoUsd, windows = [month, day]) =>
      ledger.reserve({ holdId: id(name), amountNanoUsd, windows, leaseMs: LEASE_MS }),
    grow: (name, toNanoUsd) => ledger.grow({ holdId: id(name), toNanoUsd, leaseMs: LEASE_MS }),
    settle: (name, costNanoUsd) => ledger.settle({ holdId: id(name), costNanoUsd }),
    sums: async () =>
      (await ledger.spent([day, month])).map(({ settledNanoUsd, heldNanoUsd }) => [settledNanoUsd, heldNanoUsd]),
  }
}

for (const engine of engines) {
  engine.test('ledger: an amount that just fits is held in all windows', async (t) => {
    const { hold, sums } = await fixtureOn(t, engine)
    t.true((await hold('a', 40)).ok)
    t.true((await hold('b', 60)).ok)
    t.deepEqual(await sums(), [
      [0, 100],
      [0, 100],
    ])
  })

  engine.test('ledger: one that does not is refused by its window, and held in none', async (t) => {
    const { hold, settle, sums, ledger, day, month } = await fixtureOn(t, engine)
    await hold('a', 80)
    t.deepEqual(await hold('b', 21), { ok: false, refusedBy: day, spentNanoUsd: 80 })
    await settle('a', 80)
    const tomorrow = { ...day, window: 'd:2026-12-01' }
    t.deepEqual(await hold('c', 71, [tomorrow, month]), { ok: false, refusedBy: month, spentNanoUsd: 80 })
    t.deepEqual(await sums(), [
      [80, 0],
      [80, 0],
    ])
    t.deepEqual(await ledger.spent([tomorrow]), [{ settledNanoUsd: 0, heldNanoUsd: 0 }])
  })

  engine.test('ledger: more than the limit is refused by a window in which nothing is', async (t) => {
    const { hold, day } = await fixtureOn(t, engine)
    t.deepEqual(await hold('a', 101), { ok: false, refusedBy: day, spentNanoUsd: 0 })
    const none = { ...day, limitNanoUsd: 0 }
    t.deepEqual(await hold('a', 1, [none]), { ok: false, refusedBy: none, spentNanoUsd: 0 })
  })

  engine.test('ledger: a hold grows while it fits, and stays as it was when it does not', async (t) => {
    const { hold, grow, sums, day } = await fixtureOn(t, engine)
    await hold('a', 10)
    await hold('b', 30)
    t.true((await grow('a', 70)).ok)
    const refused = await grow('a', 71)
    t.deepEqual(refused, { ok: false, refusedBy: day, spentNanoUsd: 100 })
    t.true((await grow('a', 5)).ok)
    t.deepEqual(await sums(), [
      [0, 100],
      [0, 100],
    ])
  })

  engine.test('ledger: a settled hold counts its cost, once, and frees the rest', async (t) => {
    const { hold, settle, sums } = await fixtureOn(t, engine)
    await hold('a', 100)
    await settle('a', 30)
    await settle('a', 31)
    t.deepEqual(await sums(), [
      [30, 0],
      [30, 0],
    ])
    t.true((await hold('b', 70)).ok)
  })

  engine.test('ledger: a cost beyond the hold and the limit is recorded in full', async (t) => {
    const { hold, settle, sums, day } = await fixtureOn(t, engine)
    await hold('a', 10)
    await settle('a', 120)
    t.deepEqual(await sums(), [
      [120, 0],
      [120, 0],
    ])
    t.deepEqual(await hold('b', 1), { ok: false, refusedBy: day, spentNanoUsd: 120 })
  })

  engine.test('ledger: when others overspent, a hold may still be renewed', async (t) => {
    const { hold, grow, settle } = await fixtureOn(t, engine)
    await hold('a', 10)
    await hold('b', 10)
    await settle('b', 500)
    t.true((await grow('a', 10)).ok)
  })

  engine.test('ledger: a hold whose lease has ended counts in full until it is settled', async (t) => {
    const { hold, settle, sums, ledger, place, id } = await fixtureOn(t, engine)
    await hold('a', 40)
    await hold('b', 10)
    await endLeases(place, [id('a')])
    await ledger.sweep()
    t.deepEqual(await sums(), [
      [40, 10],
      [40, 10],
    ])
    t.true(place.log.events().includes('spend.holds-expired'))
    await settle('a', 15)
    t.deepEqual(await sums(), [
      [15, 10],
      [15, 10],
    ])
    t.true(place.log.events().includes('spend.corrected'))
  })

  engine.test('ledger: a hold whose lease has ended is held again when it grows', async (t) => {
    const { hold, grow, sums, ledger, place, id } = await fixtureOn(t, engine)
    await hold('a', 40)
    await endLeases(place, [id('a')])
    await ledger.sweep()
    t.true((await grow('a', 60)).ok)
    await ledger.sweep()
    t.deepEqual(await sums(), [
      [0, 60],
      [0, 60],
    ])
  })

  engine.test('ledger: growing renews the lease', async (t) => {
    const { hold, grow, sums, ledger, place, id } = await fixtureOn(t, engine)
    await hold('a', 40)
    await endLeases(place, [id('a')])
    await grow('a', 40)
    await ledger.sweep()
    t.deepEqual((await sums())[0], [0, 40])
  })

  engine.test('ledger: the same hold twice is held once', async (t) => {
    const { hold, settle, sums } = await fixtureOn(t, engine)
    const both = await Promise.all([hold('a', 60), hold('a', 60)])
    t.true(both.every(({ ok }) => ok))
    t.deepEqual((await sums())[0], [0, 60])
    await settle('a', 60)
    await t.throwsAsync(hold('a', 60), { code: 'internal_error', message: /has ended/ })
  })

  engine.test('ledger: an unknown hold is a fault', async (t) => {
    const { grow, settle } = await fixtureOn(t, engine)
    const unknown = { code: 'internal_error', message: /\bx\b/ }
    await t.throwsAsync(settle('x', 1), unknown)
    await t.throwsAsync(grow('x', 1), unknown)
  })

  engine.test('ledger: money is whole and not negative', async (t) => {
    const { hold, settle, sums } = await fixtureOn(t, engine)
    await hold('a', 10)
    for (const amount of [0.5, -1, Number.NaN, 2 ** 53]) {
      await t.throwsAsync(hold('b', amount), { code: 'internal_error' })
      await t.throwsAsync(settle('a', amount), { code: 'internal_error' })
    }
    t.deepEqual((await sums())[0], [0, 10])
  })

  engine.test('ledger: large amounts are exact', async (t) => {
    const { hold, ledger, day } = await fixtureOn(t, engine)
    const wide = { ...day, limitNanoUsd: Number.MAX_SAFE_INTEGER }
    t.true((await hold('a', 2 ** 53 - 2, [wide])).ok)
    t.like(await hold('b', 2, [wide]), { ok: false, spentNanoUsd: 2 ** 53 - 2 })
    t.true((await hold('c', 1, [wide])).ok)
    t.deepEqual(await ledger.spent([wide]), [{ settledNanoUsd: 0, heldNanoUsd: 2 ** 53 - 1 }])
  })

  engine.test('ledger: ended holds are deleted in time, and their costs are not', async (t) => {
    const { hold, settle, sums, ledger, place, id } = await fixtureOn(t, engine)
    await hold('a', 10)
    await hold('b', 10)
    await settle('a', 7)
    await ledger.sweep()
    const remembered = () => place.sql(`select state from spend_hold where id in ('${id('a')}', '${id('b')}')`)
    t.is((await remembered()).length, 2)
    await place.sql(`update spend_hold set due_at_ms = 0 where id = '${id('a')}'`)
    await ledger.sweep()
    t.deepEqual(await remembered(), [{ state: 'open' }])
    t.deepEqual((await sums())[0], [7, 10])
  })

  engine.test('ledger: of 500 at once exactly those are admitted that fit', async (t) => {
    const { hold, sums, ledger, day } = await fixtureOn(t, engine)
    const user = { scope: `${day.scope}: user`, window: day.window, limitNanoUsd: 1100 }
    const windows = [{ ...day, limitNanoUsd: 1000 }, user]
    const results = await Promise.all(Array.from({ length: 500 }, (_, i) => hold(`h${i}`, 10, windows)))
    const refused = results.filter((result) => !result.ok)
    t.is(refused.length, 400)
    t.true(refused.every((result) => !result.ok && result.spentNanoUsd + 10 > result.refusedBy.limitNanoUsd))
    t.deepEqual((await sums())[0], [0, 1000])
    t.deepEqual(await ledger.spent([user]), [{ settledNanoUsd: 0, heldNanoUsd: 1000 }])
  })

  engine.test('ledger: more holds than one sweep takes all expire', async (t) => {
    const { hold, sums, ledger, place, id, day } = await fixtureOn(t, engine)
    const names = Array.from({ length: 250 }, (_, i) => `h${i}`)
    await Promise.all(names.map((name) => hold(name, 1, [{ ...day, limitNanoUsd: 1000 }])))
    await endLeases(place, names.map(id))
    await ledger.sweep()
    t.deepEqual((await sums())[0], [250, 0])
  })
}
