import test from 'ava'
import { periodOf } from './calendar.ts'
import { Budgets, budgetOf } from './windows.ts'

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

const CONVERSATION = { id: 'conv_2', rootId: 'conv_1', agent: 'a:b', source: 'client', turn: 3 } as const
const CALLER = { kind: 'key', scope: 'a' } as const
const exchange = {
  caller: CALLER,
  conversation: { ...CONVERSATION, client: undefined, parentId: 'conv_1' },
}

test('windows: budgets are named for the conversation, its agent and its run, and the smaller limit applies', (t) => {
  const budgets = { per_conversation: 5, per_agent: 9, per_run: 20, tokens_per_conversation: 100 }
  const own = { ...OWN, budgets: { per_run: 10, per_agent: 90, turns_per_conversation: 7, time_per_conversation: 60 } }
  const { windows, tokens, turns } = new Budgets(own).of(exchange, { ...NONE, budgets }, 0)
  const named = (list: typeof tokens) => list?.map(({ scope, window, limitNanoUsd }) => [scope, window, limitNanoUsd])
  t.deepEqual(named(windows as typeof tokens), [
    ['key:a', 'c:conv_2', 5],
    ['key:a', 'a:conv_1:a%3Ab', 9],
    ['key:a', 'r:conv_1', 10],
  ])
  t.deepEqual(named(tokens), [['key:a', 'n:conv_2', 100]])
  t.deepEqual(named(turns), [
    ['key:a', 't:conv_2', 7],
    ['key:a', 'w:conv_2', 60],
  ])
})

test('windows: without a limit of conversations, none is recognised', (t) => {
  const unread = {
    caller: CALLER,
    get conversation(): never {
      throw new Error('Expected the conversation not to be read')
    },
  }
  const { windows } = new Budgets({ ...OWN, perDayNanoUsd: 5 }).of(unread, { ...NONE, budgets: {} }, 0)
  t.deepEqual(
    windows.map(({ window }) => window),
    ['d:1970-01-01'],
  )
})

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
