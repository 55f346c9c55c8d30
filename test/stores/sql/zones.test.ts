import fc from 'fast-check'
import { timeZoneOf } from '../../../src/core/time-zone.ts'
import { customRange, namedRange } from '../../../src/http/dashboard/usage-range.ts'
import { toRow } from '../../../src/stores/sql/telemetry/rows.ts'
import { openTelemetryStore } from '../../../src/stores/sql/telemetry/telemetry.ts'
import { isDrill } from '../../support/drill.ts'
import { sampleRequest } from '../../support/telemetry.ts'
import { engines } from './places.ts'

/*
 * Charts are in steps of a zone's own clock: its days and weeks, over changes of its clock, with offsets of quarter hours.
 */
const ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo']
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A Sunday; clocks change in New York a week before, on Lord Howe a month before. */
const BEGIN_MS = Date.UTC(2026, 10, 8)

const counts = (steps: readonly number[]) => {
  const found = new Map<number, number>()
  for (const step of steps) found.set(step, (found.get(step) ?? 0) + 1)
  return [...found].toSorted(([a], [b]) => a - b)
}

let made = 0

for (const engine of engines)
  engine.test('zones: each request is in the step that a clock of the zone shows', async (t) => {
    const { place, store } = await engine.shared()
    const telemetry = openTelemetryStore({ ...place, accounts: store, clock: { nowMs: () => Date.now() } })
    t.teardown(() => telemetry.close(10_000))
    const minute = fc.integer({ min: -60 * 24 * 60, max: 60 * 24 * 60 }).map((minutes) => BEGIN_MS + minutes * 60_000)
    const days = fc.constantFrom(1, 13, 60, 300)
    const moments = fc.array(minute, { minLength: 1, maxLength: 30, size: 'max' })
    await fc.assert(
      fc.asyncProperty(
        moments,
        fc.constantFrom(...ZONES),
        days,
        fc.boolean(),
        async (times, name, length, isOfSlices) => {
          const scope = `zoned-${++made}`
          const zone = timeZoneOf(name)
          await telemetry.run(
            'telemetry.put',
            times.map((startedAtMs) => toRow(sampleRequest({ scope, startedAtMs }))),
          )
          const range = customRange(
            { fromMs: BEGIN_MS - (length * DAY_MS) / 2, toMs: BEGIN_MS + (length * DAY_MS) / 2 },
            zone,
          )
          const { steps, ...asked } = range
          const filter = isOfSlices ? { provider: 'anthropic' } : {}
          const found = await telemetry.usage(scope, { ...asked, ...filter })
          const begins = [...steps.values()]
          const expected = times
            .filter((ms) => ms >= range.fromMs && ms < range.toMs)
            .map((ms) => begins.findLast((begin) => begin <= ms) ?? 0)
          // A begin of a range within an hour counts its hour wholly where sums of hours are read.
          const isWhole = range.fromMs % HOUR_MS === 0
          if (isWhole || isOfSlices)
            t.deepEqual(
              found.map(({ fromMs, requests }) => [steps.get(fromMs), requests]),
              counts(expected),
              name,
            )
          for (const begin of begins.slice(1)) {
            const local = begin + zone.offsetAt(begin)
            if (range.stepMs % DAY_MS === 0)
              t.true(local % DAY_MS === 0 || name === 'America/Sao_Paulo', `${name} ${new Date(begin)}`)
            if (range.stepMs > DAY_MS) t.is(new Date(local).getUTCDay(), 1, 'weeks begin with Mondays')
          }
        },
      ),
      { numRuns: isDrill ? 30 : 10 },
    )
  })

engines[0]?.test('zones: yesterday is a day of the zone, of 23 hours when its clock is put forward', async (t) => {
  const zone = timeZoneOf('America/New_York')
  // The Monday after the second Sunday in March, at noon.
  const { fromMs, toMs, steps } = namedRange('yesterday', zone, Date.UTC(2026, 2, 9, 16))
  t.deepEqual([new Date(fromMs), new Date(toMs)], [new Date('2026-03-08T05:00:00Z'), new Date('2026-03-09T04:00:00Z')])
  t.is(steps.size, 23)
  t.is(namedRange('today', timeZoneOf('Asia/Kathmandu'), Date.UTC(2026, 0, 1)).fromMs, Date.UTC(2025, 11, 31, 18, 15))
  t.throws(() => timeZoneOf('Mars/Olympus'), { message: /expected a time zone/ })
})
