import test from 'ava'
import { openCostFixture } from './cost-fixture.ts'

const cost = await openCostFixture()
test.after.always(() => cost.close())

/** About 1,800 tokens. */
const PROMPT = 'A barrier across the road, where travellers pay for what they use. '.repeat(130)

/** Returns the estimate of this caller's request, from the refusal of a cap that nothing fits. */
async function estimateOf(as: string): Promise<number> {
  const reply = await cost.ask(cost.fixture.scenario(), { as, guard: 'per_request=0.00000001', prompt: PROMPT })
  return (reply.json as { error: { estimated: number } }).error.estimated
}

test('token factors: calibration by one caller’s replies moves no other caller’s estimate', async (t) => {
  // Each asks once: in the full pipeline, what a caller repeats is marked for the provider's cache, and a mark has a price.
  const [odd, first, last] = [`${t.title} odd`, `${t.title} first`, `${t.title} last`]
  const before = await estimateOf(first)
  t.is(await estimateOf(odd), before)
  const usage = { input_tokens: 6000, output_tokens: 5 }
  for (let lesson = 1; lesson <= 20; lesson++) {
    const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', text: 'Yes.', usage } })
    t.is((await cost.ask(scenario, { as: odd, guard: 'per_day=100', prompt: `${lesson} ${PROMPT}` })).status, 200)
  }
  await cost.settled(odd)
  t.true((await estimateOf(odd)) > before * 1.2, 'its own estimate follows')
  t.is(await estimateOf(last), before)
})
