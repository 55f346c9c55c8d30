import test from 'ava'
import { periodOf } from './calendar.ts'

const LEAP_DAY = Date.UTC(2028, 1, 29, 23, 59, 59, 999)

const resets: [period: 'day' | 'month', atMs: number, expected: string][] = [
  ['day', LEAP_DAY, '2028-03-01T00:00:00.000Z'],
  ['day', LEAP_DAY + 1, '2028-03-02T00:00:00.000Z'],
  ['month', LEAP_DAY, '2028-03-01T00:00:00.000Z'],
  ['month', LEAP_DAY + 1, '2028-04-01T00:00:00.000Z'],
  ['day', Date.UTC(2026, 11, 31, 12), '2027-01-01T00:00:00.000Z'],
  ['month', Date.UTC(2026, 11, 1), '2027-01-01T00:00:00.000Z'],
]
for (const [period, atMs, expected] of resets) {
  test(`calendar: the ${period} of ${new Date(atMs).toISOString()} ends at ${expected}`, (t) => {
    t.is(periodOf(period, atMs).resetsAt, expected)
  })
}
