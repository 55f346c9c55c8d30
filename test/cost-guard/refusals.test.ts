import test from 'ava'
import { valueAt } from '../support/json.ts'
import { openCostFixture, remaining } from './cost-fixture.ts'

const cost = await openCostFixture({
  config: {
    costs: { per_day: 1, per_month: 5, instance_per_month: 1000 },
    plugins: { watch: false, 'cost-guard': { per_month: 4 } },
  },
})
test.after.always(() => cost.close())

const isMidnight = (text: unknown) => /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/.test(String(text))

for (const dialect of ['messages', 'chat', 'responses'] as const) {
  for (const stream of [false, true]) {
    for (const period of ['request', 'day', 'month'] as const) {
      test(`refusal: ${dialect}, ${stream ? 'SSE' : 'JSON'}: a cap per ${period} that the floor does not fit is 429, final, and reports the spending`, async (t) => {
        const scenario = cost.fixture.scenario()
        const sentAtMs = Date.now()
        const reply = await cost.ask(scenario, { as: t.title, guard: `per_${period}=0.0003`, dialect, stream })
        t.is(reply.status, 429)
        t.is(reply.headers['x-should-retry'], 'false')
        t.is(reply.headers['retry-after'], undefined)
        const type = dialect === 'responses' ? 'usage_limit_reached' : `cost_limit_per_${period}`
        t.like(reply.json, { type: 'error', error: { type, limit: 0.0003, spent: 0 } })
        const error = valueAt(reply.json, 'error') as { estimated: number; resets_at: unknown; message: string }
        t.true(error.estimated > 0.0003, error.message)
        const { resets_at: resetsAt } = error
        const resetsAtMs = typeof resetsAt === 'number' ? resetsAt * 1000 : Date.parse(String(resetsAt))
        if (period !== 'request') t.true(isMidnight(new Date(resetsAtMs).toISOString()) && resetsAtMs > Date.now())
        else if (dialect === 'responses') t.is(resetsAt, null)
        else t.true(resetsAtMs >= sentAtMs && resetsAtMs <= Date.now())
        if (dialect !== 'messages') t.is(valueAt(reply.json, 'error.code'), `cost_limit_per_${period}`)
        t.is(scenario.seen('anthropic').length + scenario.seen('openai').length, 0)
        const { settledNanoUsd, heldNanoUsd } = cost.books(t.title)
        t.deepEqual([settledNanoUsd, heldNanoUsd], [0, 0])
      })
    }
  }
}

test('refusal: a configured cap locks the guard: no pipeline leaves it out', async (t) => {
  const scenario = cost.fixture.scenario()
  for (const pipe of ['none', 'exact-cache', '']) {
    const reply = await cost.ask(scenario, { as: `${t.title} ${pipe}`, pipe })
    t.is(reply.status, 200)
    t.regex(String(reply.headers['x-svc-pipe']), /cost-guard$/)
    t.is(reply.headers['x-svc-budget-day-limit'], '1')
  }
})

test('refusal: reports the cap in its headers too', async (t) => {
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, guard: 'per_day=0.0003' })
  t.like(reply.headers, { 'x-svc-budget-day-limit': '0.0003', 'x-svc-budget-day-remaining': '0.0003' })
  t.like(reply.headers, { 'x-svc-budget-month-limit': '4', 'x-svc-budget-month-remaining': '4' })
})

test('refusal: earlier spending and the request’s need are together more than the limit', async (t) => {
  const scenario = cost.fixture.scenario({
    anthropic: { kind: 'answer', usage: { input_tokens: 10, output_tokens: 90 } },
  })
  const asking = { as: t.title, guard: 'per_day=0.003', extra: { max_tokens: 90 } }
  let reply = await cost.ask(scenario, { ...asking, prompt: 'hi 0' })
  for (let sent = 1; reply.status === 200 && sent < 10; sent++) {
    await cost.settled(t.title)
    reply = await cost.ask(scenario, { ...asking, prompt: `hi ${sent}` })
  }
  const error = valueAt(reply.json, 'error') as { limit: number; spent: number; estimated: number }
  t.is(error.spent, cost.books(t.title).settledNanoUsd / 1e9)
  t.true(error.spent > 0 && error.spent + error.estimated > error.limit)
})

test('tightening: a caller’s larger cap does nothing, a smaller one holds', async (t) => {
  const limits = []
  for (const guard of ['per_day=1000&per_month=1000', 'per_day=0.5&per_month=3', 'per_request=9']) {
    const { headers } = await cost.ask(cost.fixture.scenario(), { as: t.title, guard })
    limits.push([headers['x-svc-budget-day-limit'], headers['x-svc-budget-month-limit']])
  }
  t.deepEqual(limits, [
    ['1', '4'],
    ['0.5', '3'],
    ['1', '4'],
  ])
})

test('tightening: a cap of 0 blocks', async (t) => {
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, guard: 'per_day=0' })
  t.is(reply.status, 429)
})

test('tightening: callers have budgets of their own, and the instance one for all', async (t) => {
  const scenario = cost.fixture.scenario()
  const [one, other] = [`${t.title} 1`, `${t.title} 2`]
  t.is((await cost.ask(scenario, { as: one })).status, 200)
  await cost.settled(one)
  const { settledNanoUsd } = cost.books(one)
  t.true(settledNanoUsd > 0)
  t.is(cost.books(other).settledNanoUsd, 0)
})

test('headers: every reply of a guarded request reports the rest beyond its hold', async (t) => {
  const scenario = cost.fixture.scenario({
    anthropic: { kind: 'answer', usage: { input_tokens: 10, output_tokens: 20 } },
  })
  const first = await cost.ask(scenario, { as: t.title, prompt: 'hi 1' })
  t.true(remaining(first) < 1e9 && remaining(first) > 0.9e9)
  t.true(isMidnight(first.headers['x-svc-budget-day-reset']))
  await cost.settled(t.title)
  const second = await cost.ask(scenario, { as: t.title, prompt: 'hi 2' })
  t.is(remaining(first) - remaining(second), 10 * 3000 + 20 * 15_000)
})

test('headers: clients of the Messages API get the same in the provider’s headers', async (t) => {
  const { headers } = await cost.ask(cost.fixture.scenario(), { as: t.title })
  for (const name of ['day-limit', 'day-remaining', 'day-reset', 'month-limit', 'month-remaining', 'month-reset'])
    t.is(headers[`anthropic-ratelimit-budget-usd-${name}`], headers[`x-svc-budget-${name}`], name)
  t.is(headers['anthropic-ratelimit-budget-usd-day-limit'], '1')
})
