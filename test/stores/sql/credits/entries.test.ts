import type { ExecutionContext } from 'ava'
import type { NewEntry } from '../../../../src/stores/sql/credits/entries.ts'
import { type Engine, engines } from '../places.ts'
import { openAccount, PLANS } from './accounts.ts'

async function fixtureOn(t: ExecutionContext, engine: Engine) {
  const { place, store } = await engine.shared()
  const accountId = t.title.replaceAll("'", '')
  await openAccount(place, { id: accountId, tier: 'pro' })
  return {
    store,
    place,
    accountId,
    append: (entry: Omit<NewEntry, 'now' | 'accountId'>) => store.run('ledger.append', { accountId, ...entry }),
    hold: (holdId: string) =>
      store.run('ledger.take', { holdId: `${t.title} ${holdId}`, accountId, calls: 1, plans: PLANS, leaseMs: 60_000 }),
    rows: () => place.sql(`select seq, credits, idem from ledger_entry where account_id = '${accountId}' order by seq`),
  }
}

const GRANT = { kind: 'grant', credits: 50, idem: 'invoice:1' }

for (const engine of engines) {
  engine.test('entries: the same entry again changes nothing, at once or later', async (t) => {
    const { append, rows } = await fixtureOn(t, engine)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => append(GRANT)))
    t.deepEqual(outcomes.toSorted(), ['appended', ...Array.from({ length: 7 }, () => 'replayed')])
    t.is(await append({ ...GRANT, credits: 70 }), 'replayed')
    t.is((await rows()).length, 1)
  })

  engine.test('entries: a take that is too large is clipped to the free credits, or refused', async (t) => {
    const { append, hold, rows, store, accountId } = await fixtureOn(t, engine)
    await append(GRANT)
    // Two calls are included; the third holds ten credits.
    for (const id of ['a', 'b', 'c']) t.true((await hold(id)).ok)
    const take = { kind: 'refund', credits: -60 }
    t.is(await append({ ...take, idem: 'refund:1', beyond: 'refuse' }), 'refused')
    t.is(await append({ ...take, idem: 'refund:2' }), 'appended')
    t.is(await append({ ...take, idem: 'refund:3' }), 'refused')
    t.deepEqual(
      (await rows()).map(({ credits }) => Number(credits)),
      [50, -40],
    )
    t.is((await store.run('account.balance', { accountId })).credits, 0)
  })

  engine.test('entries: the database refuses to change or delete one', async (t) => {
    const { append, place, accountId } = await fixtureOn(t, engine)
    await append(GRANT)
    const where = `where account_id = '${accountId}'`
    await t.throwsAsync(place.sql(`update ledger_entry set credits = 51 ${where}`), { message: /append-only/ })
    await t.throwsAsync(place.sql(`delete from ledger_entry ${where}`), { message: /append-only/ })
  })

  engine.test('entries: nothing, a fraction, and an unknown account are faults with words', async (t) => {
    const { append, store } = await fixtureOn(t, engine)
    for (const credits of [0, 0.5, Number.NaN])
      await t.throwsAsync(append({ ...GRANT, credits }), { message: /Expected a whole number of credits/ })
    await t.throwsAsync(store.run('ledger.append', { accountId: 'nobody', ...GRANT }), { message: /nobody is unknown/ })
  })
}
