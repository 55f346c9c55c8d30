import type { RoutedAlert } from '../../../src/core/ports/alerts.ts'
import { createAlertStore } from '../../../src/stores/sql/alerts/alert-store.ts'
import { engines } from './places.ts'

const LEASE_MS = 60_000

let alerts = 0

/** Ends the leases of a channel's deliveries, as time would. */
const endLeases = (channel: string) =>
  `update alert_delivery set due_at_ms = 0 where state = 'due' and channel like '%${channel}'`

function alertOf(fields: Partial<RoutedAlert> = {}): RoutedAlert {
  const id = `alert_${++alerts}`
  return {
    id,
    kind: 'health',
    subject: 'store',
    severity: 'warning',
    title: 'A title.',
    details: { waiting: 3 },
    dedupeKey: id,
    channels: ['unread'],
    ...fields,
  }
}

for (const engine of engines) {
  engine.test('alerts: of the same alert from several processes one is stored', async (t) => {
    const { place } = await engine.shared()
    const stores = (await Promise.all([1, 2, 3].map(() => place.open()))).map(createAlertStore)
    const raised = await Promise.all(stores.map((store) => store.raise([alertOf({ dedupeKey: 'same' })])))
    t.is(raised.flat().length, 1)
    const [store] = stores
    t.deepEqual(await store?.raise([alertOf({ dedupeKey: 'same' })]), [])
    const title = `of ${engine.name}`
    t.is((await store?.raise([alertOf({ title })]))?.length, 1)
    t.is((await store?.list({ most: 100 }))?.filter((alert) => alert.title === title).length, 1)
  })

  engine.test('alerts: an alert is repeated when it is no longer quiet, and its end is stored once', async (t) => {
    const { place, store: database } = await engine.shared()
    const store = createAlertStore(database)
    const raise = (fields: Partial<RoutedAlert>) => store.raise([alertOf(fields)])
    const failing = { dedupeKey: 'failing', quietMs: LEASE_MS }
    const ending = { dedupeKey: 'failing:end', ends: 'failing' }
    t.is((await raise(ending)).length, 0, 'nothing to end')
    t.is((await raise(failing)).length, 1)
    t.is((await raise(failing)).length, 0)
    await place.sql("update alert_mark set repeats_at_ms = 0 where dedupe_key = 'failing'")
    t.is((await raise(failing)).length, 1, 'again after its time')
    t.is((await raise(ending)).length, 1)
    t.is((await raise(ending)).length, 0)
    t.is((await raise(failing)).length, 1, 'it may fail again')
  })

  engine.test('alerts: a delivery is taken by one process, and again when that process has ended', async (t) => {
    const { place } = await engine.shared()
    const stores = (await Promise.all([1, 2, 3].map(() => place.open()))).map(createAlertStore)
    const [store] = stores
    if (store === undefined) return t.fail()
    await store.raise([alertOf({ channels: ['x-ops', 'x-mail'] })])
    const order = { channels: ['x-ops', 'x-mail'], leaseMs: LEASE_MS, most: 10 }
    t.deepEqual(await store.take({ ...order, channels: ['other'] }), [], 'a process without the channel takes none')
    const taken = (await Promise.all(stores.map((one) => one.take(order)))).flat()
    t.deepEqual(taken.map(({ channel }) => channel).sort(), ['x-mail', 'x-ops'])
    t.like(taken[0]?.alert, { title: 'A title.', details: { waiting: 3 }, severity: 'warning' })

    // The process ends between sending and recording it: as when its lease passes.
    await place.sql(endLeases('x-%'))
    const again = await store.take(order)
    t.deepEqual(
      again.map(({ tries }) => tries),
      [2, 2],
    )
    t.deepEqual(
      again.map(({ alert }) => alert.id),
      taken.map(({ alert }) => alert.id),
    )

    const alertId = String(again[0]?.alert.id)
    await store.settle([
      { alertId, channel: 'x-ops', state: 'sent' },
      { alertId, channel: 'x-mail', state: 'due', error: 'status 500', retryMs: LEASE_MS },
    ])
    t.deepEqual(await store.take(order), [], 'one was sent, the other waits')
    await place.sql(endLeases('x-%'))
    t.deepEqual(
      (await store.take(order)).map(({ channel }) => channel),
      ['x-mail'],
    )
    await store.settle([{ alertId, channel: 'x-mail', state: 'failed', error: 'status 404' }])
    await place.sql(endLeases('x-%'))
    t.deepEqual(await store.take(order), [])
    const listed = (await store.list({ most: 100 })).find(({ id }) => id === alertId)
    t.like(listed?.deliveries, [
      { channel: 'x-mail', state: 'failed', error: 'status 404', tries: 3, sentAtMs: null },
      { channel: 'x-ops', state: 'sent', error: null, tries: 2 },
    ])
  })

  engine.test('alerts: one process at a time has the lease', async (t) => {
    const { place, store: database } = await engine.shared()
    const store = createAlertStore(database)
    const take = (holder: string) => store.lease({ name: 'watch', holder, leaseMs: LEASE_MS })
    t.true(await take('a'))
    t.false(await take('b'))
    t.true(await take('a'), 'renewed')
    await place.sql('update alert_lease set until_ms = 0')
    t.true(await take('b'))
    t.false(await take('a'))
  })

  engine.test('alerts: of each cap the highest share without an alert is found', async (t) => {
    const { place, store: database } = await engine.shared()
    const store = createAlertStore(database)
    const window = 'd:2026-11-23'
    const put = (scope: string, [settled, held]: readonly number[], limit = 1000) =>
      place.sql(`insert into spend_window (scope, window_id, settled_nano_usd, held_nano_usd, limit_nano_usd, raised_nano_usd, begun_at_ms)
        values ('${scope}', '${window}', ${settled}, ${held}, ${limit}, 0, 0)`)
    await put('key:key:low', [499, 400])
    await put('key:key:half', [500, 0])
    await put('user:ada', [960, 0])
    await put('instance', [1001, 0])
    await put('key:key:free', [5, 0], 0)
    const find = async (refused: readonly string[] = [], windows: readonly string[] = [window]) => {
      const caps = refused.map((scope) => ({ scope, window, limitNanoUsd: 1000 }))
      const crossed = await store.crossedCaps({ windows, shares: [50, 80, 100], refused: caps })
      return crossed.map(({ scope, share }) => `${scope} ${share}`)
    }
    t.deepEqual(await find([], ['m:2026-11']), [])
    t.deepEqual(await find(), ['instance 100', 'user:ada 80', 'key:key:half 50'])
    t.deepEqual(await find(['user:ada', 'key:key:half', 'key:key:low']), [
      'instance 100',
      'key:key:low 100',
      'user:ada 100',
      'key:key:half 50',
    ])
    await store.raise([alertOf({ dedupeKey: `cap:100:instance:${window}` })])
    t.deepEqual(await find(), ['user:ada 80', 'key:key:half 50'])
  })

  engine.test('alerts: old ones are deleted with their deliveries, and marks when they have ended', async (t) => {
    const { place, store: database } = await engine.shared()
    const store = createAlertStore(database)
    const [old, recent] = [alertOf({ quietMs: 1 }), alertOf()]
    await store.raise([old, recent])
    await place.sql(`update alert set at_ms = 0 where id = '${old.id}'`)
    await place.sql(`update alert_mark set repeats_at_ms = 0 where dedupe_key = '${old.id}'`)
    t.true((await store.prune()) >= 2)
    const left = await place.sql(`select a.id, d.channel, m.dedupe_key from alert as a
      left join alert_delivery as d on d.alert_id = a.id left join alert_mark as m on m.dedupe_key = a.id
      where a.id in ('${old.id}', '${recent.id}')`)
    t.deepEqual(left, [{ id: recent.id, channel: 'unread', dedupe_key: recent.id }])
    t.deepEqual(await place.sql(`select 1 from alert_delivery where alert_id = '${old.id}'`), [])
    t.deepEqual(await place.sql(`select 1 from alert_mark where dedupe_key = '${old.id}'`), [])
  })
}
