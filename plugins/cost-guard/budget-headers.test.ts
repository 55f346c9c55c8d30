import test from 'ava'
import { budgetHeaders, leastLeft, type WindowBalance } from './budget-headers.ts'

const USD = 1_000_000_000
const AT_MS = Date.UTC(2027, 0, 31, 12)

function windowOf(scope: string, limitUsd: number, spentUsd: number, heldUsd = 0): WindowBalance {
  const sums = { settledNanoUsd: spentUsd * USD, heldNanoUsd: heldUsd * USD }
  return { scope, window: 'd:2027-01-31', period: 'day', limitNanoUsd: limitUsd * USD, ...sums }
}

test('budget headers: of the windows of a period the one with the least left is reported', (t) => {
  const [own, everyones] = [windowOf('key:a', 5, 1), windowOf('instance', 100, 97, 2)]
  for (const windows of [
    [own, everyones],
    [everyones, own],
  ])
    t.deepEqual(budgetHeaders(windows, { atMs: AT_MS, isMessages: false }), {
      'x-svc-budget-day-limit': '100',
      'x-svc-budget-day-remaining': '1',
      'x-svc-budget-day-reset': '2027-02-01T00:00:00.000Z',
      'x-svc-budget-day-cap': 'gateway',
    })
})

test('budget headers: an overspent window has nothing left', (t) => {
  const headers = budgetHeaders([windowOf('key:a', 5, 7)], { atMs: AT_MS, isMessages: true })
  t.is(headers['anthropic-ratelimit-budget-usd-day-remaining'], '0')
  t.is(leastLeft([windowOf('key:a', 5, 7), windowOf('*', 5, 1)]), 0)
  t.is(leastLeft([windowOf('key:a', 5, 1, 1), windowOf('*', 9, 1)]), 3 * USD)
  t.is(leastLeft([]), Number.POSITIVE_INFINITY)
})
