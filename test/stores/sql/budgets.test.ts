import { BUDGET_KEPT_DAYS } from '../../../src/core/money/budget-windows.ts'
import type { SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { firstReceiptIdAt } from '../../../src/core/telemetry/receipt-id.ts'
import { EVERYBODY } from '../../../src/core/telemetry/telemetry.ts'
import { createRetention } from '../../../src/stores/sql/retention/retention.ts'
import { createBudgets } from '../../../src/stores/sql/spend/budget-store.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import type { SqlStore } from '../../../src/stores/sql/store.ts'
import { engines } from './places.ts'

const LEASE_MS = 60_000
const DAY_MS = 86_400_000
const budget = (window: string, limitNanoUsd: number, scope = 'key:mine'): SpendWindow => ({
  scope,
  window,
  limitNanoUsd,
  isBudget: true,
})
const OF_CONVERSATION = {
  name: 'per_conversation',
  conversation: 'conv_1',
  agent: undefined,
  actor: 'operator',
} as const

let holds = 0

async function reserve(store: SqlStore, amountNanoUsd: number, window: SpendWindow) {
  return store.run('spend.reserve', { holdId: `h${++holds}`, amountNanoUsd, windows: [window], leaseMs: LEASE_MS })
}

for (const engine of engines) {
  engine.test('budgets: one whose first request was refused is raised by its owner alone, with an entry', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const ledger = createSpendLedger({ store, log: place.log })
    t.teardown(() => ledger.close(1000))
    const budgets = createBudgets(store)
    const window = budget('c:conv_1', 5)
    const hold = (holdId: string) => ledger.reserve({ holdId, amountNanoUsd: 7, windows: [window], leaseMs: LEASE_MS })
    t.is((await hold('first')).ok, false)
    t.is(await budgets.raise({ ...OF_CONVERSATION, by: 2, scopes: ['another'] }), undefined)
    t.is(await budgets.raise({ ...OF_CONVERSATION, by: 2, scopes: [] }), undefined)
    const raised = await budgets.raise({ ...OF_CONVERSATION, by: 2, scopes: ['mine'] })
    t.like(raised, { name: 'per_conversation', conversation: 'conv_1', limit: 5, raised: 2, spent: 0, held: 0 })
    const held = await hold('second')
    t.like(held, { ok: true, standing: [{ limitNanoUsd: 5, raisedNanoUsd: 2, heldNanoUsd: 7 }] })
    t.like(await hold('third'), { ok: false, spentNanoUsd: 7, raisedNanoUsd: 2 })
    const [entry, ...others] = await store.run('audit.list', {})
    t.is(others.length, 0)
    t.like(entry, { action: 'budget.raised', subject: 'conv_1', actor: 'operator', accountId: 'local' })
    t.like(entry?.details, { budget: 'per_conversation', by: 2 })
  })

  engine.test(
    'budgets: the entry of a raise is in the log of the key’s account, also where an operator raised it',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const columns = 'id, account_id, hash, prefix, created_at_ms'
      await place.sql(`insert into api_key (${columns}) values ('key_1', 'ada', 'hash', 'svc', 1) returning id`)
      await reserve(store, 1, budget('c:conv_1', 5, 'key:key:key_1'))
      const raise = { ...OF_CONVERSATION, actor: 'user:boss', by: 1, scopes: EVERYBODY }
      t.like(await createBudgets(store).raise(raise), { raised: 1 })
      t.like(await store.run('audit.list', { accountId: 'ada' }), [{ actor: 'user:boss', subject: 'conv_1' }])
    },
  )

  engine.test('budgets: a raise to a limit counts from the last request’s, and never lowers', async (t) => {
    const store = await (await engine.createPlace(t)).open()
    const budgets = createBudgets(store)
    await reserve(store, 1, budget('c:conv_1', 5))
    const to = async (limit: number) => {
      const raised = await budgets.raise({ ...OF_CONVERSATION, to: limit, scopes: EVERYBODY })
      return raised && raised.limit + raised.raised
    }
    t.deepEqual([await to(9), await to(7), await to(12)], [9, 9, 12])
    t.is((await budgets.raise({ ...OF_CONVERSATION, by: 1e15, scopes: EVERYBODY }))?.raised, 1e15, 'the most')
  })

  engine.test('budgets: the list has those of a conversation, its run and the run’s agents', async (t) => {
    const store = await (await engine.createPlace(t)).open()
    const budgets = createBudgets(store)
    for (const window of ['c:conv_1', 'r:conv_1', 'a:conv_1:', 'a:conv_1:over%20view', 't:conv_1'])
      await reserve(store, 1, budget(window, 5))
    for (const window of ['c:conv_2', 'r:conv_2', 'a:conv_11:']) await reserve(store, 1, budget(window, 5))
    await reserve(store, 1, { scope: 'key:mine', window: 'd:2026-11-21', limitNanoUsd: 5 })
    const names = async (scopes: string) =>
      (await budgets.list(scopes, 'conv_1')).map(({ name, conversation, agent }) => [name, conversation, agent])
    t.deepEqual((await names('mine')).toSorted(), [
      ['per_agent', 'conv_1', ''],
      ['per_agent', 'conv_1', 'over view'],
      ['per_conversation', 'conv_1', undefined],
      ['per_run', 'conv_1', undefined],
      ['turns_per_conversation', 'conv_1', undefined],
    ])
    t.deepEqual(await names('another'), [])
  })

  engine.test('budgets: they end some days after their last use, unless money is held', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const nowMs = Date.now()
    const today = Math.floor(nowMs / DAY_MS)
    for (const [id, daysAgo] of [
      ['used', BUDGET_KEPT_DAYS],
      ['held', BUDGET_KEPT_DAYS + 1],
      ['unused', BUDGET_KEPT_DAYS + 1],
      ['used-again', BUDGET_KEPT_DAYS + 1],
    ] as const) {
      await reserve(store, 1, budget(`c:${id}`, 5))
      await place.sql(`update spend_window set used_day = ${today - daysAgo} where window_id = 'c:${id}'`)
    }
    await place.sql(`update spend_window set held_nano_usd = 0 where window_id <> 'c:held'`)
    await reserve(store, 1, budget('c:used-again', 5))
    await place.sql(`update spend_window set held_nano_usd = 0 where window_id = 'c:used-again'`)
    await reserve(store, 1, {
      scope: 'key:mine',
      window: `d:${new Date(nowMs).toISOString().slice(0, 10)}`,
      limitNanoUsd: 5,
    })
    const options = { receiptsMs: 0, telemetry: undefined, firstIdAt: firstReceiptIdAt, log: place.log }
    const retention = createRetention({ store, ...options, clock: { nowMs: () => nowMs } })
    t.teardown(() => retention.close())
    await retention.prune()
    const kept = (await place.sql('select window_id from spend_window')).map((row) => String(row.window_id))
    t.deepEqual(kept.filter((id) => id.startsWith('c:')).toSorted(), ['c:held', 'c:used', 'c:used-again'])
    t.is(kept.length, 4)
  })
}
