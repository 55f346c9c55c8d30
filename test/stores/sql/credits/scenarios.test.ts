import type { ExecutionContext } from 'ava'
import type { CallReservation } from '../../../../src/core/ports/calls.ts'
import { type Engine, engines } from '../places.ts'
import { type NewAccount, openAccount, PLANS } from './accounts.ts'

const LEASE_MS = 60_000
const DAY_MS = 86_400_000

async function fixtureOn(t: ExecutionContext, engine: Engine, account: Partial<NewAccount> = {}) {
  const { place, store } = await engine.shared()
  const accountId = t.title
  await openAccount(place, { tier: 'pro', ...account, id: accountId })
  const id = (name: string | number) => `${t.title} ${name}`
  return {
    ...place,
    store,
    accountId,
    grant: (credits: number, idem = 'grant') => store.run('ledger.append', { accountId, kind: 'grant', credits, idem }),
    take: (name: string | number): Promise<CallReservation> =>
      store.run('ledger.take', { holdId: id(name), accountId, calls: 1, plans: PLANS, leaseMs: LEASE_MS }),
    end: async (name: string | number, usedCalls = 1) =>
      (await store.run('ledger.end', [{ holdId: id(name), accountId, usedCalls }]))[0],
    balance: () => store.run('account.balance', { accountId }),
    async expire(name: string) {
      await place.sql(`update credit_hold set due_at_ms = 0 where id = '${id(name)}'`)
      await store.run('ledger.sweep', undefined)
    },
    hold: async (name: string) => (await place.sql(`select * from credit_hold where id = '${id(name)}'`))[0],
    hours: () =>
      place.sql(`select calls, charged_credits, shortfall_credits from overage_hour where account_id = '${accountId}'`),
  }
}

for (const engine of engines) {
  engine.test('calls: of fifty at once with credits for seven exactly seven are held', async (t) => {
    const { grant, take, end, balance } = await fixtureOn(t, engine)
    for (const i of ['in 1', 'in 2']) t.deepEqual(await take(i), { ok: true, callCredits: 0 })
    await grant(79)
    const results = await Promise.all(Array.from({ length: 50 }, (_, i) => take(i)))
    const held = results.flatMap(({ ok }, i) => (ok ? [i] : []))
    t.is(held.length, 7)
    const refusals = results.flatMap((result) => (result.ok ? [] : [result.refused]))
    t.true(refusals.every((refused) => refused.reason === 'credits' && refused.freeCredits === 9))
    for (const i of held) t.is(await end(i), 'posted')
    t.like(await balance(), { credits: 9, usedCalls: 9, tier: 'pro' })
  })

  engine.test('calls: a failed one gives back its credits and its call', async (t) => {
    const { grant, take, end, balance, hours } = await fixtureOn(t, engine)
    await grant(10)
    for (const i of [1, 2, 3]) await take(i)
    t.like(await balance(), { credits: 0, usedCalls: 3 })
    t.is(await end(3, 0), 'voided')
    t.is(await end(1, 0), 'voided')
    t.like(await balance(), { credits: 10, usedCalls: 1 })
    t.deepEqual(await take('again'), { ok: true, callCredits: 0 })
    t.deepEqual(await hours(), [])
  })

  engine.test('calls: of ends in one command each has its own outcome, and the first of a hold counts', async (t) => {
    const { store, accountId, grant, take, balance, hold, expire } = await fixtureOn(t, engine)
    await grant(10)
    await take('gone')
    await expire('gone')
    for (const name of ['included', 'waived', 'paid']) await take(name)
    const endOf = (name: string, usedCalls: number) => ({ holdId: `${t.title} ${name}`, accountId, usedCalls })
    const ends = [endOf('included', 1), endOf('paid', 1), endOf('included', 0), endOf('waived', 0), endOf('waived', 1)]
    t.deepEqual(await store.run('ledger.end', [...ends, endOf('gone', 1), endOf('nobody’s', 1)]), [
      ...['posted', 'posted', 'repeated', 'voided', 'repeated'],
      ...['late', 'unknown'],
    ])
    t.deepEqual(await store.run('ledger.end', ends), Array(5).fill('repeated'))
    t.like(await balance(), { credits: 0, usedCalls: 3 })
    t.like(await hold('included'), { state: 'posted', previous_state: 'open' })
    t.like(await hold('waived'), { state: 'voided', previous_state: 'open' })
  })

  engine.test(
    'calls: an end after its lease is charged as far as credits last, and the rest is recorded',
    async (t) => {
      const { grant, take, end, expire, hold, hours, balance } = await fixtureOn(t, engine)
      await grant(10)
      for (const i of [1, 2, 'late']) await take(i)
      await expire('late')
      t.is((await balance()).credits, 10)
      t.true((await take('other')).ok)
      t.is(await end('other'), 'posted')
      t.is(await end('late'), 'late')
      t.is(await end('late', 0), 'repeated')
      const row = await hold('late')
      t.deepEqual([row?.state, Number(row?.charged_credits), Number(row?.shortfall_credits)], ['posted', 0, 10])
      const [hour] = await hours()
      t.deepEqual(Object.values(hour ?? {}).map(Number), [2, 10, 10])
      t.like(await balance(), { credits: 0, usedCalls: 4 })
    },
  )

  engine.test('calls: the free plan ends with its month, and reports when', async (t) => {
    const { take, balance } = await fixtureOn(t, engine, { tier: 'free' })
    for (const i of [1, 2, 3]) t.true((await take(i)).ok)
    const refused = await take(4)
    const { period } = await balance()
    t.regex(period.windowId, /^m:\d{4}-\d{2}$/)
    t.deepEqual(refused, {
      ok: false,
      refused: { reason: 'calls', tier: 'free', includedCalls: 3, resetsAtMs: period.endsAtMs },
    })
  })

  engine.test('calls: a paid period that is over is followed by one that a renewal only confirms', async (t) => {
    const beganMs = Date.now() - 31 * DAY_MS
    const endedMs = Date.now() - DAY_MS
    const account = { periodStartMs: beganMs, periodEndMs: endedMs }
    const { take, balance, sql, accountId } = await fixtureOn(t, engine, account)
    t.deepEqual(await take(1), { ok: true, callCredits: 0 })
    t.like(await balance(), { period: { windowId: `p:${endedMs}`, endsAtMs: undefined }, usedCalls: 1 })
    await sql(
      `update account set period_start_ms = ${endedMs}, period_end_ms = ${endedMs + 30 * DAY_MS} where id = '${accountId}'`,
    )
    t.like(await balance(), { period: { windowId: `p:${endedMs}`, endsAtMs: endedMs + 30 * DAY_MS }, usedCalls: 1 })
  })

  engine.test('calls: money and a call are held together, or neither', async (t) => {
    const { grant, store, accountId, take, balance } = await fixtureOn(t, engine)
    for (const i of [1, 2]) await take(i)
    await grant(10)
    const window = { scope: accountId, window: 'd:1', limitNanoUsd: 100 }
    const admit = (name: string, amountNanoUsd: number) =>
      store.run('spend.admit', {
        hold: { holdId: `${t.title} ${name}`, amountNanoUsd, windows: [window], leaseMs: LEASE_MS },
        call: { holdId: `${t.title} call ${name}`, accountId, calls: 1, plans: PLANS, leaseMs: LEASE_MS },
      })
    const standing = async () => [(await balance()).credits, (await store.run('spend.read', [window]))[0]?.heldNanoUsd]
    t.like(await admit('too dear', 101), { spend: { ok: false, spentNanoUsd: 0 }, call: undefined })
    t.deepEqual(await standing(), [10, 0])
    const both = await Promise.all([admit('a', 40), admit('a', 40)])
    t.true(both.every(({ spend, call }) => spend.ok && call?.ok))
    t.deepEqual(await standing(), [0, 40])
    t.like(await admit('b', 40), { call: { ok: false, refused: { reason: 'credits', freeCredits: 0 } } })
    t.deepEqual(await standing(), [0, 40])
  })

  engine.test('calls: a hold of an unknown account, and the end of an unknown hold, are reported', async (t) => {
    const { store, end } = await fixtureOn(t, engine)
    const order = { holdId: 'x', accountId: 'nobody', calls: 1, plans: PLANS, leaseMs: LEASE_MS }
    await t.throwsAsync(store.run('ledger.take', order), { message: /nobody is unknown/ })
    t.is(await end('never'), 'unknown')
  })

  engine.test('calls: an account that was never used is free and has nothing', async (t) => {
    const { store } = await fixtureOn(t, engine)
    const balance = await store.run('account.balance', { accountId: 'never' })
    t.like(balance, { tier: 'free', credits: 0, periodEndMs: null, usedCalls: 0 })
  })
}
