import test from 'ava'
import { windowRefusal } from './refusal.ts'

const AT_MS = Date.UTC(2027, 0, 31, 12)
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
