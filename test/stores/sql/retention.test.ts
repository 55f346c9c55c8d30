import type { ExecutionContext } from 'ava'
import { firstReceiptIdAt } from '../../../src/core/telemetry/receipt-id.ts'
import { createRetention } from '../../../src/stores/sql/retention/retention.ts'
import type { SqlStore } from '../../../src/stores/sql/store.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { openTelemetryStore } from '../../../src/stores/sql/telemetry/telemetry.ts'
import { eventually } from '../../support/eventually.ts'
import { toBatch } from '../../support/receipts.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { type Engine, engines } from './places.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-11-21T12:00:00Z')
const clock = { nowMs: () => NOW_MS }

const receiptAt = (ms: number, name: number) => ({
  id: `${firstReceiptIdAt(ms).slice(0, -4)}${String(name).padStart(4, '0')}`,
  scope: 'mine',
  createdAtMs: ms,
  json: '{}',
})

async function spend(store: SqlStore, window: string, settle = true): Promise<void> {
  const windows = [{ scope: 'mine', window, limitNanoUsd: 10 }]
  await store.run('spend.reserve', { holdId: window, amountNanoUsd: 1, windows, leaseMs: 60_000 })
  if (settle) await store.run('spend.settle', [{ holdId: window, costNanoUsd: 1 }])
}

async function openPlace(t: ExecutionContext, engine: Engine) {
  const place = await engine.createPlace(t)
  const store = await place.open()
  const telemetry = openTelemetryStore({ ...place, accounts: store, clock })
  t.teardown(() => telemetry.close(0))
  return { place, store, telemetry }
}

for (const engine of engines) {
  engine.test('retention: old rows are deleted, however many, and the rest stays', async (t) => {
    const { place, store, telemetry } = await openPlace(t, engine)
    const old = Array.from({ length: 450 }, (_, i) => receiptAt(NOW_MS - 11 * DAY_MS, i))
    const kept = [receiptAt(NOW_MS - 10 * DAY_MS, 0), receiptAt(NOW_MS - 9 * DAY_MS, 0)]
    await store.run('receipt.put', toBatch([...old, ...kept]))
    const requests = [6, 5, 4].map((days) => sampleRequest({ startedAtMs: NOW_MS - days * DAY_MS }))
    const ancient = sampleRequest({ startedAtMs: NOW_MS - 401 * DAY_MS, scope: 'ancient' })
    const eldest = sampleRequest({ startedAtMs: NOW_MS - 400 * DAY_MS, scope: 'eldest' })
    await telemetry.run('telemetry.put', [...requests, ancient, eldest].map(toRow))
    for (const window of ['d:2025-10-16', 'd:2025-10-17', 'd:2026-11-21', 'm:2025-09', 'm:2025-10', 'm:2026-11'])
      await spend(store, window)
    await spend(store, 'd:2025-10-01', false)

    const retention = createRetention({
      store,
      receiptsMs: 10 * DAY_MS,
      telemetry: { store: telemetry, keepMs: 5 * DAY_MS },
      firstIdAt: firstReceiptIdAt,
      clock,
      log: place.log,
    })
    t.teardown(() => retention.close())
    await retention.prune()

    t.deepEqual(place.log.lines.find(({ event }) => event === 'retention.pruned')?.fields, {
      days: 1,
      months: 1,
      receipts: 450,
      requests: 3,
      slices: 1,
      conversations: 2,
      hours: 1,
    })
    t.deepEqual(
      await place.sql('select id from receipt order by id'),
      kept.map(({ id }) => ({ id })),
    )
    t.deepEqual(
      (await place.sql('select window_id from spend_window order by window_id')).map((row) => row.window_id),
      ['d:2025-10-01', 'd:2025-10-17', 'd:2026-11-21', 'm:2025-10', 'm:2026-11'],
      'a window in which money is held stays',
    )
    t.deepEqual(
      (await telemetry.list('mine', { limit: 10 })).map(({ id }) => id),
      [requests[2]!.id, requests[1]!.id],
    )
    const range = { fromMs: NOW_MS - 410 * DAY_MS, toMs: NOW_MS, stepMs: DAY_MS }
    t.is((await telemetry.usage('mine', range)).length, 3, 'sums outlive their requests')
    t.is((await telemetry.usage('ancient', range)).length, 0)
    t.is((await telemetry.usage('eldest', range)).length, 1, 'the oldest hour that is kept')
  })

  engine.test('retention: receipts that are kept forever stay', async (t) => {
    const { place, store } = await openPlace(t, engine)
    await store.run('receipt.put', toBatch([receiptAt(1, 0)]))
    const options = { store, receiptsMs: 0, telemetry: undefined, firstIdAt: firstReceiptIdAt, clock, log: place.log }
    const retention = createRetention(options)
    await retention.prune()
    await retention.close()
    t.is((await place.sql('select id from receipt')).length, 1)
  })

  engine.test('retention: what another process deletes at the same time is no fault', async (t) => {
    const { place, store } = await openPlace(t, engine)
    await store.run('receipt.put', toBatch(Array.from({ length: 700 }, (_, i) => receiptAt(1, i))))
    const options = { store, receiptsMs: 1, telemetry: undefined, firstIdAt: firstReceiptIdAt, clock, log: place.log }
    const several = [1, 2, 3].map(() => createRetention(options))
    await Promise.all(several.map((each) => each.prune()))
    for (const each of several) await each.close()
    t.deepEqual(await place.sql('select id from receipt'), [])
    t.false(place.log.events().includes('retention.failed'))
  })

  engine.test('retention: a start deletes old receipts, and does not open telemetry', async (t) => {
    const { place, store } = await openPlace(t, engine)
    await store.run('receipt.put', toBatch([receiptAt(1, 0)]))
    const retention = createRetention({
      store,
      receiptsMs: 1,
      telemetry: { store: { run: () => Promise.reject(new Error('opened')) }, keepMs: 1 },
      firstIdAt: firstReceiptIdAt,
      clock,
      log: place.log,
    })
    t.teardown(() => retention.close())
    retention.start()
    await eventually(() => place.log.events().includes('retention.pruned'), 'old receipts go')
    t.deepEqual(await place.sql('select id from receipt'), [])
    t.false(place.log.events().includes('retention.failed'))
  })

  engine.test(
    'retention: telemetry that cannot be used is reported, and the others are pruned nevertheless',
    async (t) => {
      const { place, store } = await openPlace(t, engine)
      await store.run('receipt.put', toBatch([receiptAt(1, 0)]))
      const broken = { run: () => Promise.reject(new Error('damaged')) }
      const retention = createRetention({
        store,
        receiptsMs: 1,
        telemetry: { store: broken, keepMs: 1 },
        firstIdAt: firstReceiptIdAt,
        clock,
        log: place.log,
      })
      await t.throwsAsync(retention.prune(), { message: 'damaged' })
      t.deepEqual(await place.sql('select id from receipt'), [])
    },
  )
}
