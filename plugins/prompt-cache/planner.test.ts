import test from 'ava'
import type { Outline } from './outline.ts'
import type { Plan } from './plan.ts'
import { Planner } from './planner.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const PRICES = { read: 0.1, write: { '5m': 1.25, '1h': 2 } }

/** A request whose parts have 2,000 tokens each; names are contents. */
function outlineOf({ system, messages }: { system?: string; messages: readonly string[] }): Outline {
  const prefixTo = (count: number) => ({
    digest: `${system} ${messages.slice(0, count).join(' ')}`,
    tokens: 2000 * (count + (system === undefined ? 0 : 1)),
  })
  return {
    shared: system === undefined ? [] : [{ tokens: 2000, digest: system, place: { kind: 'system' } }],
    count: messages.length,
    turn: 'text',
    depth: Math.floor(messages.length / 2),
    prefixes: (counts) => counts.map(prefixTo),
    placeIn: (index) => ({ kind: 'message', index, block: undefined }),
  }
}

/** A planner, and a provider that has cached whatever is marked, so far as a plan expects it. */
function open({ isHonest = true } = {}) {
  const planner = new Planner(1000)
  const plan = (conversation: string, parts: Parameters<typeof outlineOf>[0], nowMs: number) =>
    planner.plan({ scope: 's', conversation, outline: outlineOf(parts), prices: PRICES, leastTokens: 1024 }, nowMs)
  const settle = (plan: Plan) => {
    const readTokens = isHonest ? plan.expectedReadTokens : 0
    const written = plan.marks.length === 0 ? 0 : plan.expectedWriteTokens + plan.expectedReadTokens - readTokens
    const isHour = plan.marks.some(({ lifetime }) => lifetime === '1h')
    const writtenTokens = { '5m': isHour ? 0 : written, '1h': isHour ? written : 0 }
    plan.settle({ inputTokens: plan.totalTokens, readTokens, writtenTokens })
    return plan
  }
  return { plan, settle, ask: (...asked: Parameters<typeof plan>) => settle(plan(...asked)) }
}

const talk = (name: string, turns: number) => Array.from({ length: 2 * turns - 1 }, (_, index) => `${name}${index}`)

test('planner: a conversation whose pauses are long gets marks of an hour, and reads after a pause', (t) => {
  const { ask } = open()
  let nowMs = 0
  let last: Plan | undefined
  for (let turn = 1; turn <= 24; turn++) {
    nowMs += turn % 4 === 0 ? 20 * MINUTE : 10 * SECOND
    last = ask('one', { messages: talk('a', turn) }, nowMs)
  }
  t.true(last?.marks.some(({ lifetime }) => lifetime === '1h'))
  const after = ask('one', { messages: talk('a', 25) }, nowMs + 40 * MINUTE)
  t.true(after.expectedReadTokens >= 40 * 2000, `${after.expectedReadTokens}`)
})

test('planner: a prefix that was written for an hour is read, although its reply reads nothing', (t) => {
  const { plan } = open()
  const turn = (turns: number) => plan('one', { messages: talk('a', turns) }, turns * 10 * SECOND)
  turn(1)
  const first = turn(2)
  t.true(first.marks.length > 0)
  first.settle({ inputTokens: first.totalTokens, readTokens: 0, writtenTokens: { '5m': 0, '1h': 4000 } })
  t.true(turn(3).expectedReadTokens > 0)
})

test('planner: a conversation without pauses gets marks of five minutes', (t) => {
  const { ask } = open()
  for (let turn = 1; turn <= 20; turn++)
    for (const { lifetime } of ask('one', { messages: talk('a', turn) }, turn * 10 * SECOND).marks) t.is(lifetime, '5m')
})

test('planner: never more than four marks, those of an hour first', (t) => {
  const { ask } = open()
  let nowMs = 0
  for (let turn = 1; turn <= 60; turn++) {
    nowMs += turn % 5 === 0 ? 15 * MINUTE : 10 * SECOND
    const lifetimes = ask('one', { system: 'all', messages: talk('a', turn) }, nowMs).marks.map(
      ({ lifetime }) => lifetime,
    )
    t.true(lifetimes.length <= 4)
    t.deepEqual(lifetimes, lifetimes.toSorted())
  }
})

test('planner: what one request writes, others do not write until its reply has begun', (t) => {
  const { plan, ask } = open()
  const one = (name: string, nowMs: number) => plan(name, { system: 'all', messages: [name] }, nowMs)
  for (const name of ['a', 'b']) ask(name, { system: 'all', messages: [name] }, SECOND)
  const later = 10 * MINUTE
  ask('c', { system: 'all', messages: ['c'] }, later - MINUTE)
  const writer = one('d', 20 * MINUTE)
  const waiting = one('e', 20 * MINUTE)
  t.is(writer.marks.length, 1)
  t.is(waiting.marks.length, 0)
  writer.begin()
  t.is(one('f', 20 * MINUTE + 1).expectedReadTokens, 2000)
})

test('planner: where nothing is ever read, writes stop', (t) => {
  const { ask } = open({ isHonest: false })
  const marked = Array.from({ length: 200 }, (_, index) => {
    const { marks } = ask(`c${index}`, { system: 'all', messages: [`c${index}`] }, index * 10 * SECOND)
    return marks.length
  })
  const writes = marked.filter((count) => count > 0).length
  t.true(writes < 60, `${writes} of 200`)
})

test('planner: reads of first turns that nothing has marked are noticed', (t) => {
  const { plan } = open()
  const settled = (name: string, readTokens: number) => {
    const one = plan(name, { messages: [name] }, 0)
    one.settle({ inputTokens: 2000, readTokens, writtenTokens: { '5m': 0, '1h': 0 } })
  }
  settled('a', 0)
  t.is(plan('b', { messages: ['b'] }, 0).unmarkedReadShare, 0)
  settled('c', 1000)
  t.is(plan('d', { messages: ['d'] }, 0).unmarkedReadShare, 0.25)
})

test('planner: nothing that is learnt of one scope is used for another', (t) => {
  const planner = new Planner(1000)
  const plan = (scope: string, nowMs: number) =>
    planner.plan(
      {
        scope,
        conversation: 'c',
        outline: outlineOf({ system: 'all', messages: ['m'] }),
        prices: PRICES,
        leastTokens: 1024,
      },
      nowMs,
    )
  for (let index = 0; index < 10; index++) plan('one', index * SECOND)
  t.true(plan('one', 11 * SECOND).marks.length > 0)
  t.is(plan('two', 11 * SECOND).marks.length, 0)
})
