import test from 'ava'
import { GatewayError } from 'turnpike/plugin'
import { CpuBudget } from './cpu-budget.ts'

/** A budget, a clock, and work that takes as much CPU as it is given. */
function open() {
  let [nowMs, cpuMs] = [1000, 0]
  const budget = new CpuBudget({ nowMs: () => nowMs }, () => cpuMs)
  const use = (scope: string, ms: number) => budget.spend(scope, () => (cpuMs += ms))
  return { use, wait: (ms: number) => (nowMs += ms) }
}

test('cpu budget: a caller has half a second, then a fiftieth of the time, and no other pays for it', (t) => {
  const { use, wait } = open()
  use('a', 250)
  use('a', 260)
  const refused = t.throws(() => use('a', 1), { instanceOf: GatewayError })
  t.is(refused.code, 'rate_limit_error')
  t.is(refused.headers['retry-after'], '1')
  use('b', 250)
  wait(500)
  use('a', 10)
  t.throws(() => use('a', 1))
  wait(500)
  use('a', 1)
})

test('cpu budget: work that throws is charged, too', (t) => {
  const { use } = open()
  t.throws(() => {
    use('a', 600)
    use('a', 1)
  })
})
