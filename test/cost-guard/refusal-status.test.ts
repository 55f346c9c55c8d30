import test from 'ava'
import { valueAt } from '../support/json.ts'
import { openCostFixture } from './cost-fixture.ts'

const cost = await openCostFixture({ config: { plugins: { watch: false, 'cost-guard': { refusal_status: 402 } } } })
test.after.always(() => cost.close())

for (const dialect of ['messages', 'chat'] as const)
  for (const period of ['request', 'day', 'month'] as const)
    test(`refusal status: with 402 chosen, a cap per ${period} is 402, final, and the same in all else (${dialect})`, async (t) => {
      const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, guard: `per_${period}=0.0003`, dialect })
      t.is(reply.status, 402)
      t.is(reply.headers['x-should-retry'], 'false')
      t.is(reply.headers['retry-after'], undefined)
      t.like(reply.json, { type: 'error', error: { type: `cost_limit_per_${period}`, limit: 0.0003, spent: 0 } })
      if (period !== 'request') t.is(reply.headers[`x-svc-budget-${period}-limit`], '0.0003')
    })

test('refusal status: a caller cannot choose it', async (t) => {
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, guard: 'per_day=1&refusal_status=429' })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /refusal_status/)
})
