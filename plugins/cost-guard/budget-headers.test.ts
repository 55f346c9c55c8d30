import test from 'ava'
import { budgetHeaders, codexHeaders, leastLeft, removeAccountLimits, type WindowBalance } from './budget-headers.ts'

const USD = 1_000_000_000
const AT_MS = Date.UTC(2027, 0, 31, 12)

function windowOf(scope: string, limitUsd: number, spentUsd: number, heldUsd = 0): WindowBalance {
  const sums = { settledNanoUsd: spentUsd * USD, heldNanoUsd: heldUsd * USD }
  return { scope, window: 'd:2027-01-31', period: 'day', limitNanoUsd: limitUsd * USD, ...sums }
}

test('budget headers: of the windows of a period the one with the least left is reported', (t) => {
  const [own, everyones] = [windowOf('key:a', 5, 1), windowOf('*', 100, 97, 2)]
  for (const windows of [
    [own, everyones],
    [everyones, own],
  ])
    t.deepEqual(budgetHeaders(windows, { atMs: AT_MS, isMessages: false }), {
      'x-svc-budget-day-limit': '100',
      'x-svc-budget-day-remaining': '1',
      'x-svc-budget-day-reset': '2027-02-01T00:00:00.000Z',
    })
})

test('budget headers: an overspent window has nothing left', (t) => {
  const headers = budgetHeaders([windowOf('key:a', 5, 7)], { atMs: AT_MS, isMessages: true })
  t.is(headers['anthropic-ratelimit-budget-usd-day-remaining'], '0')
  t.is(leastLeft([windowOf('key:a', 5, 7), windowOf('*', 5, 1)]), 0)
  t.is(leastLeft([windowOf('key:a', 5, 1, 1), windowOf('*', 9, 1)]), 3 * USD)
  t.is(leastLeft([]), Number.POSITIVE_INFINITY)
})

test('budget headers: Codex gets shares of the day and of the month, with their length and end', (t) => {
  const month = { ...windowOf('*', 200, 1), period: 'month' as const }
  t.deepEqual(codexHeaders([windowOf('key:a', 5, 1, 0.5), month], AT_MS), {
    'x-codex-primary-used-percent': '30',
    'x-codex-primary-window-minutes': '1440',
    'x-codex-primary-reset-at': '1801440000',
    'x-codex-secondary-used-percent': '0.5',
    'x-codex-secondary-window-minutes': '44640',
    'x-codex-secondary-reset-at': '1801440000',
  })
  t.is(codexHeaders([windowOf('key:a', 0, 0)], AT_MS)['x-codex-primary-used-percent'], '100')
})

test('budget headers: limits of the operator’s account are removed, other headers stay', (t) => {
  const removed = [
    ...[
      'x-ratelimit-limit-requests',
      'x-codex-primary-used-percent',
      'x-codex-secondary-reset-at',
      'x-codex-promo-message',
    ],
    ...['x-codex-bengalfox-primary-used-percent', 'x-codex-active-limit', 'x-codex-credits-balance'],
  ]
  const kept = ['x-svc-budget-day-limit', 'x-codex-turn-state', 'my-x-ratelimit-limit', 'retry-after']
  const headers: Record<string, unknown> = Object.fromEntries([...removed, ...kept].map((name) => [name, '1']))
  removeAccountLimits(headers)
  t.deepEqual(Object.keys(headers), kept)
})
