import test from 'ava'
import { budgetOf } from './windows.ts'

const NONE = { perRequestNanoUsd: undefined, windows: [] }
const OWN = { perRequestNanoUsd: undefined, perDayNanoUsd: undefined, perMonthNanoUsd: undefined, scope: 'key:a' }
const LEAP_DAY = Date.UTC(2028, 1, 29, 23, 59, 59, 999)

test('windows: follow the UTC calendar', (t) => {
  const own = { ...OWN, perDayNanoUsd: 5, perMonthNanoUsd: 50 }
  const names = (atMs: number) => budgetOf(NONE, own, atMs).windows.map(({ window }) => window)
  t.deepEqual(names(LEAP_DAY), ['d:2028-02-29', 'm:2028-02'])
  t.deepEqual(names(LEAP_DAY + 1), ['d:2028-03-01', 'm:2028-03'])
})

test('windows: of two caps on the same window the smaller one applies, regardless of its source', (t) => {
  const operators = { perRequestNanoUsd: 7, windows: [{ scope: 'key:a', period: 'day', limitNanoUsd: 10 } as const] }
  const limits = (perDayNanoUsd: number, perRequestNanoUsd: number) => {
    const budget = budgetOf(operators, { ...OWN, perDayNanoUsd, perRequestNanoUsd }, 0)
    return [budget.windows.map(({ limitNanoUsd }) => limitNanoUsd), budget.perRequestNanoUsd]
  }
  t.deepEqual(limits(1000, 1000), [[10], 7])
  t.deepEqual(limits(3, 2), [[3], 2])
  t.deepEqual(limits(0, 0), [[0], 0])
})

test('windows: an instance-wide cap applies in addition to a caller’s own', (t) => {
  const caps = { ...NONE, windows: [{ scope: 'instance', period: 'day', limitNanoUsd: 10 } as const] }
  const { windows } = budgetOf(caps, { ...OWN, perDayNanoUsd: 5 }, 0)
  t.deepEqual(
    windows.map(({ scope, limitNanoUsd }) => [scope, limitNanoUsd]),
    [
      ['instance', 10],
      ['key:a', 5],
    ],
  )
})
