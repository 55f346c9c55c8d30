import test from 'ava'
import type { Caller } from '../core/request/caller.ts'
import { createCapsOf } from './caps.ts'

const COSTS = { per_day: 5, user_per_day: 8, user_per_month: 0.07, instance_per_month: 100 }
const limits = (caller: Caller, tags: readonly string[] = []) =>
  createCapsOf(COSTS)({ caller, tags }).windows.map(({ scope, period, limitNanoUsd }) => [scope, period, limitNanoUsd])

test('caps: apply to the key, its user and the whole instance', (t) => {
  t.deepEqual(limits({ kind: 'key', scope: 'k1', userId: 'ada' }), [
    ['key:k1', 'day', 5e9],
    ['user:ada', 'day', 8e9],
    ['user:ada', 'month', 70_000_000],
    ['instance', 'month', 100e9],
  ])
})

test('caps: a caller that is no user has no user caps', (t) => {
  t.deepEqual(limits({ kind: 'local', scope: 'any' }), [
    ['key:any', 'day', 5e9],
    ['instance', 'month', 100e9],
  ])
})

const NESTED: Caller = {
  ...{ kind: 'key', scope: 'k1', userId: 'ada', teamId: 'team_1', tags: ['shop'] },
  limits: { costPerDay: 3 },
  personLimits: { costPerDay: 9, costPerMonth: 50 },
  teamLimits: { costPerMonth: 200 },
  tagLimits: { shop: { costPerDay: 2 }, web: { costPerMonth: 20 }, quiet: { requestsPerMinute: 1 } },
}

test('caps: nest: each on its own window, and of the operator’s and a person’s own the lower one', (t) => {
  t.deepEqual(limits(NESTED, ['quiet', 'shop', 'toString', 'web']), [
    ['key:k1', 'day', 3e9],
    ['user:ada', 'day', 8e9],
    ['user:ada', 'month', 70_000_000],
    ['team:team_1', 'month', 200e9],
    ['tag:shop', 'day', 2e9],
    ['tag:web', 'month', 20e9],
    ['instance', 'month', 100e9],
  ])
  t.deepEqual(
    limits({ ...NESTED, personLimits: { costPerDay: 0 } }).map(([scope]) => scope),
    ['key:k1', 'user:ada', 'user:ada', 'team:team_1', 'instance'],
  )
})

test('caps: are computed once for a caller, and once for each list of tags with limits', (t) => {
  const capsOf = (caller: Caller, tags: readonly string[] = []) => known({ caller, tags })
  const known = createCapsOf(COSTS)
  t.is(capsOf(NESTED), capsOf(NESTED, ['free', 'x']))
  t.is(capsOf(NESTED, ['shop']), capsOf(NESTED, ['shop']))
  t.not(capsOf(NESTED, ['shop']), capsOf(NESTED, ['web']))
  const first = capsOf(NESTED, ['shop'])
  for (let n = 0; n < 20; n++) capsOf(NESTED, ['shop', `t${n}`])
  t.not(capsOf(NESTED, ['shop']), first, 'a bounded number is kept')
})

test('caps: the owner of a key may only tighten', (t) => {
  const caller = { kind: 'key', scope: 'k1' } as const
  const own = { costPerRequest: 0.5, costPerDay: 50, costPerMonth: 30 }
  t.deepEqual(limits({ ...caller, limits: own }), [
    ['key:k1', 'day', 5e9],
    ['key:k1', 'month', 30e9],
    ['instance', 'month', 100e9],
  ])
  const perRequest = (operators: number | undefined) =>
    createCapsOf({ per_request: operators })({ caller: { ...caller, limits: own }, tags: [] }).perRequestNanoUsd
  t.deepEqual([undefined, 0.1, 9].map(perRequest), [5e8, 1e8, 5e8])
  t.is(createCapsOf({})({ caller, tags: [] }).perRequestNanoUsd, undefined)
})

test('caps: of the limits of conversations the lower one applies, and none to a plugin’s own calls', (t) => {
  const capsOf = createCapsOf({ per_conversation: 2, turns_per_conversation: 50, time_per_conversation: 60_000 })
  const own = { costPerConversation: 3, costPerRun: 0.5, turnsPerConversation: 20, secondsPerConversation: 90 }
  t.deepEqual(capsOf({ caller: { kind: 'key', scope: 'k1', limits: own }, tags: [] }).budgets, {
    per_conversation: 2e9,
    per_run: 5e8,
    turns_per_conversation: 20,
    time_per_conversation: 60_000,
  })
  t.deepEqual(capsOf({ caller: { kind: 'local', scope: 'plugin:semantic-cache' }, tags: [] }).budgets, {})
})
