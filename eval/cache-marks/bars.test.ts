import test from 'ava'
import { RATES } from '../billing.ts'
import type { Call } from './call.ts'
import { leastCost } from './hindsight.ts'
import { alwaysMarking, learning, type Model, replayCost, withoutMarks } from './replay.ts'
import { generateTraffic, REPLY_MS } from './traffic.ts'

/*
 * Bars of `prompt-cache` on generated traffic, with a seed that is neither among those of its constants nor of its table.
 */

const SEED = 31
const MODEL: Model = {
  prices: { fresh: RATES.fresh, read: RATES.read, write5m: RATES.write, write1h: 2 * RATES.fresh },
  leastTokens: 1024,
  replyMs: REPLY_MS,
}
const traffic = generateTraffic(SEED)
const costs = traffic.map(({ name, calls }) => ({ name, ...costsOf(calls, MODEL) }))

function costsOf(calls: readonly Call[], model: Model) {
  return {
    none: replayCost(calls, withoutMarks(), model),
    always: replayCost(calls, alwaysMarking(), model),
    ours: replayCost(calls, learning(model), model),
    least: leastCost(calls, model.prices, model.replyMs),
  }
}

test('cache marks: no kind of traffic costs more than without marks by more than 1 %', (t) => {
  for (const { name, none, ours } of costs) t.true(ours <= 1.01 * none, `${name}: ${ours / none}`)
})

test('cache marks: the same holds of a cache whose entries live no longer than those they extend', (t) => {
  for (const { name, calls } of traffic.slice(0, 4)) {
    const model = { ...MODEL, isChained: true }
    const [none, ours] = [replayCost(calls, withoutMarks(), model), replayCost(calls, learning(model), model)]
    t.true(ours <= 1.01 * none, `${name}: ${ours / none}`)
  }
})

test('cache marks: nine tenths of what can be saved in hindsight are saved', (t) => {
  const sum = (of: (row: (typeof costs)[number]) => number) => costs.reduce((total, row) => total + of(row), 0)
  const saved = sum(({ none, ours }) => none - ours) / sum(({ none, least }) => none - least)
  t.true(saved >= 0.9, `${saved}`)
  t.true(saved <= 1)
  for (const { name, ours, least } of costs) t.true(least <= ours, name)
})

test('cache marks: one-shots cost at least 15 % less than with marks on all', (t) => {
  const { ours, always } = costs.find(({ name }) => name === 'one-shots, distinct') ?? { ours: 1, always: 0 }
  t.true(ours <= 0.85 * always, `${ours / always}`)
})
