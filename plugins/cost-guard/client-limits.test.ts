import test from 'ava'
import { budgetHeaders, leastLeft, type WindowBalance } from './budget-headers.ts'
import { limitHeaders } from './client-limits.ts'
import { windowRefusal } from './refusal.ts'

const USD = 1_000_000_000
const AT_MS = Date.UTC(2027, 0, 31, 12)

function windowOf(scope: string, limitUsd: number, spentUsd: number, heldUsd = 0): WindowBalance {
  const sums = { settledNanoUsd: spentUsd * USD, heldNanoUsd: heldUsd * USD }
  return { scope, window: 'd:2027-01-31', period: 'day', limitNanoUsd: limitUsd * USD, ...sums }
}

test('client limits: Codex gets shares of the day and of the month, with their length and end', (t) => {
  const month = { ...windowOf('*', 200, 1), period: 'month' as const }
  t.deepEqual(limitHeaders('codex', [windowOf('key:a', 5, 1, 0.5), month], { atMs: AT_MS }), {
    'x-codex-primary-used-percent': '30',
    'x-codex-primary-window-minutes': '1440',
    'x-codex-primary-reset-at': '1801440000',
    'x-codex-secondary-used-percent': '0.5',
    'x-codex-secondary-window-minutes': '44640',
    'x-codex-secondary-reset-at': '1801440000',
  })
  t.is(limitHeaders('codex', [windowOf('key:a', 0, 0)], { atMs: AT_MS })['x-codex-primary-used-percent'], '100')
})

test('client limits: Claude Code gets the fullest window as usage credits, below all of it', (t) => {
  const prefix = 'anthropic-ratelimit-unified'
  const month = { ...windowOf('*', 200, 1), period: 'month' as const }
  const of = (...windows: WindowBalance[]) => limitHeaders('claude-code', windows, { atMs: AT_MS })
  t.deepEqual(of(windowOf('key:a', 5, 1, 0.5), month), {
    [`${prefix}-status`]: 'allowed',
    [`${prefix}-representative-claim`]: 'overage',
    [`${prefix}-reset`]: '1801440000',
    [`${prefix}-overage-status`]: 'allowed',
    [`${prefix}-overage-utilization`]: '0.3',
    [`${prefix}-overage-reset`]: '1801440000',
  })
  for (const [spent, used, threshold] of [
    [3.8, '0.76', '0.75'],
    [4.75, '0.95', '0.95'],
    [5, '0.99', '0.95'],
    [7, '0.99', '0.95'],
  ] as const)
    t.like(of(month, windowOf('key:a', 5, spent)), {
      [`${prefix}-status`]: 'allowed_warning',
      [`${prefix}-overage-utilization`]: used,
      [`${prefix}-overage-surpassed-threshold`]: threshold,
    })
  t.like(of({ ...month, settledNanoUsd: 190 * USD }, windowOf('key:a', 5, 1)), {
    [`${prefix}-overage-utilization`]: '0.95',
  })
  t.deepEqual(of(), {})
})

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

const AMOUNTS = { spentNanoUsd: 4_900_000_000, estimatedNanoUsd: 120_000_000, atMs: AT_MS }

for (const [scope, words, fields] of [
  ['key:key:key_1', 'this key', { cap: 'key' }],
  ['user:ada', 'all keys of this person', { cap: 'person' }],
  ['team:team_1', 'this team', { cap: 'team' }],
  ['tag:shop.eu', 'the tag `shop.eu`', { cap: 'tag', tag: 'shop.eu' }],
  ['instance', 'this gateway', { cap: 'gateway' }],
] as const)
  test(`refusal: one by ${words} names it, with its end`, (t) => {
    const window = { scope, window: 'd:2027-01-31', period: 'day', limitNanoUsd: 5e9 } as const
    const { code, message, fields: shown } = windowRefusal(window, AMOUNTS)
    t.is(code, 'cost_limit_per_day')
    t.is(
      message,
      `Of $5 a day for ${words}, $4.9 is spent or held for running requests; this one needs $0.12. Resets at 2027-02-01T00:00:00.000Z.`,
    )
    t.deepEqual(shown, { limit: 5, spent: 4.9, estimated: 0.12, resets_at: '2027-02-01T00:00:00.000Z', ...fields })
  })
