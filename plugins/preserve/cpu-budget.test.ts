import test from 'ava'
import { CpuBudget } from './cpu-budget.ts'

function open() {
  let nowMs = 1000
  const budget = new CpuBudget({ nowMs: () => nowMs }, { share: 0.02, burstMs: 500 })
  return { budget, wait: (ms: number) => (nowMs += ms) }
}

test('cpu budget: a scope has half a second, then a fiftieth of the time, and other scopes are not affected', (t) => {
  const { budget, wait } = open()
  budget.charge('a', 500)
  t.is(budget.waitMs('a'), 0)
  budget.charge('a', 10)
  t.is(budget.waitMs('a'), 500)
  t.is(budget.waitMs('b'), 0)
  wait(400)
  t.is(budget.waitMs('a'), 100)
  t.is(budget.usedMs('a'), 502)
  wait(100)
  t.is(budget.waitMs('a'), 0)
})
