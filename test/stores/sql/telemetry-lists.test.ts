import { EVERYBODY, type RequestFilter } from '../../../src/core/telemetry/telemetry.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { openTelemetryStore } from '../../../src/stores/sql/telemetry/telemetry.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { engines } from './places.ts'

const NOON_MS = 1_795_348_800_000
const HOUR_MS = 3_600_000

for (const engine of engines) {
  engine.test(
    'telemetry: lists, finds and sums are of the scopes that are asked for, and fit the filter',
    async (t) => {
      const { place, store } = await engine.shared()
      const telemetry = openTelemetryStore({ ...place, accounts: store, clock: { nowMs: () => Date.now() } })
      t.teardown(() => telemetry.close(10_000))
      const [ada, ben, cay] = [
        sampleRequest({ scope: 'ada', startedAtMs: NOON_MS, pipeline: 'exact-cache', cache: 'hit' }),
        sampleRequest({ scope: 'ben', startedAtMs: NOON_MS + HOUR_MS, modelServed: 'odd%_\\model', outcome: 'error' }),
        sampleRequest({ scope: 'cay', startedAtMs: NOON_MS + 2 * HOUR_MS, cache: 'miss' }),
      ]
      await telemetry.run('telemetry.put', [ada, ben, cay].map(toRow))
      const scopes = ['ada', 'ben']
      const idsOf = async (filter: RequestFilter) =>
        (await telemetry.list(scopes, { limit: 500, ...filter })).map(({ id }) => id)
      t.deepEqual(await idsOf({}), [ben.id, ada.id])
      t.deepEqual(await idsOf({ text: 'EXACT' }), [ada.id])
      t.deepEqual(await idsOf({ text: '%_\\' }), [ben.id])
      t.deepEqual(await idsOf({ text: 'a%e' }), [])
      t.deepEqual(await idsOf({ cache: 'hit' }), [ada.id])
      t.deepEqual(await idsOf({ ended: 'failed' }), [ben.id])
      t.deepEqual(await idsOf({ ended: 'complete' }), [ada.id])
      t.deepEqual(await idsOf({ fromMs: NOON_MS + 1 }), [ben.id])
      t.deepEqual(await idsOf({ toMs: NOON_MS + 1 }), [ada.id])
      t.deepEqual(await telemetry.list([], { limit: 500 }), [])
      t.is(await telemetry.find(scopes, cay.id), undefined)
      t.is((await telemetry.find(EVERYBODY, cay.id))?.scope, 'cay')
      t.true((await telemetry.list(EVERYBODY, { limit: 500 })).some(({ id }) => id === cay.id))
      const range = { fromMs: NOON_MS, toMs: NOON_MS + 4 * HOUR_MS, stepMs: 4 * HOUR_MS }
      const sums = await telemetry.usage(scopes, range)
      t.is(
        sums.reduce((sum, { requests }) => sum + requests, 0),
        2,
      )
      t.deepEqual(await telemetry.usage([], range), [])
    },
  )
}
