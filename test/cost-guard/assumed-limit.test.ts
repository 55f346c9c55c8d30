import test from 'ava'
import { valueAt } from '../support/json.ts'
import { openCostFixture } from './cost-fixture.ts'

const cost = await openCostFixture()
test.after.always(() => cost.close())

const WITHOUT_LIMIT = { max_tokens: undefined }
const HELD = 32_000

const CASES = [
  ['openai', 'openai/gpt-5.2', 'max_completion_tokens'],
  ['responder', 'responder/gpt-5.2', 'max_output_tokens'],
  ['gemini', 'gemini/gemini-2.5-flash', 'generationConfig.maxOutputTokens'],
] as const
for (const dialect of ['chat', 'responses'] as const)
  for (const stream of [false, true])
    for (const [provider, model, limit] of CASES)
      test(`costs: what is held is the limit that is sent: ${dialect}, ${provider}, ${stream ? 'SSE' : 'JSON'}`, async (t) => {
        const scenario = cost.fixture.scenario()
        const asking = { as: t.title, dialect, stream, extra: { ...WITHOUT_LIMIT, model } }
        const reply = await cost.ask(scenario, { ...asking, guard: 'per_request=5' })
        t.is(reply.status, 200, reply.text)
        t.is(valueAt(scenario.seen(provider)[0]?.json, limit), HELD)
        await cost.ask(scenario, { ...asking, pipe: 'none' })
        t.is(valueAt(scenario.seen(provider)[1]?.json, limit), undefined)
      })

for (const [provider, model] of [
  ['openai', 'gpt-4.1'],
  ['house', 'house/anthropic/claude-sonnet-4.5'],
] as const)
  test(`costs: a model without reasoning that takes the limit is sent it: ${model}`, async (t) => {
    const scenario = cost.fixture.scenario()
    const asking = { as: t.title, dialect: 'chat', extra: { ...WITHOUT_LIMIT, model } } as const
    await cost.ask(scenario, { ...asking, guard: 'per_request=5' })
    const sent = scenario.seen(provider)[0]?.json
    t.is(sent?.max_completion_tokens ?? sent?.max_tokens, HELD)
  })

test('costs: a model without reasoning is not sent the limit that is held, which it would refuse', async (t) => {
  const scenario = cost.fixture.scenario()
  const asking = { as: t.title, dialect: 'chat', extra: { ...WITHOUT_LIMIT, model: 'gpt-4o' } } as const
  await cost.ask(scenario, { ...asking, guard: 'per_request=5' })
  t.is(scenario.seen('openai')[0]?.json?.max_tokens, undefined)
  t.is(scenario.seen('openai')[0]?.json?.max_completion_tokens, undefined)
})
