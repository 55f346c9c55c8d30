import test from 'ava'
import type { JsonObject } from '../support/json.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import { openCostFixture, SONNET } from './cost-fixture.ts'

const cost = await openCostFixture()
test.after.always(() => cost.close())

const OPUS = 'claude-opus-4-1'
const HAIKU = 'claude-haiku-4-5'
/** A tool without a text, so that its weight changes no figure. */
const advisor = { type: 'advisor_20260301', name: 'advisor', model: OPUS }

/** Bodies whose tokens are as many as those of a plain one, and which name a dearer model. */
const NAMES: Readonly<Record<string, JsonObject>> = {
  fallbacks: { fallbacks: [{ model: OPUS }] },
  'fallbacks by name': { fallbacks: [OPUS] },
  models: { models: [OPUS] },
  plugins: { plugins: [{ id: 'auto-router', allowed_models: [HAIKU, OPUS] }] },
  'parameters of a plugin': { plugins: [{ type: 'function', parameters: { model: OPUS } }] },
  'input of a plugin': { plugins: [{ id: 'router', input: { model: OPUS } }] },
  'data of a plugin': { plugins: [{ id: 'router', metadata: { model: OPUS }, function: { models: [OPUS] } }] },
  'input beside messages': { input: { model: OPUS } },
  'parameters of a tool that is no function of Responses': {
    tools: [{ type: 'function', name: 'a', parameters: { model: OPUS } }],
  },
  'a field of a name unknown today': { router: { pool: { default_model: OPUS } } },
}

/** Returns the hold of a request, from the refusal of a cap that nothing fits. */
async function heldFor(t: { title: string }, extra: JsonObject): Promise<number> {
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, guard: 'per_request=0.00000001', extra })
  return (reply.json as { error: { estimated: number } }).error.estimated
}

for (const [where, extra] of Object.entries(NAMES))
  test(`named models: ${where}: the dearest is held for`, async (t) => {
    const plain = await heldFor(t, { model: HAIKU })
    const named = await heldFor(t, { model: HAIKU, ...extra })
    const alone = await heldFor(t, { model: OPUS })
    t.true(alone > 10 * plain)
    t.true(named >= alone, `${named} ${alone}`)
  })

test('named models: an advisor of a tool is held for', async (t) => {
  const plain = await heldFor(t, { model: HAIKU, tools: [{ ...advisor, model: HAIKU }] })
  t.true((await heldFor(t, { model: HAIKU, tools: [advisor] })) > 10 * plain)
})

test('named models: a tool of Responses is held for only where its provider gets it', async (t) => {
  const heldIn = async (model: string, dear?: string) => {
    const tools = [{ type: 'image_generation', ...(dear !== undefined && { model: dear }) }]
    const headers = { 'x-svc-pipe': 'cost-guard?per_request=0.00000001' }
    const body = { model, input: t.title, tools }
    const reply = await cost.fixture.scenario().send({ path: '/v1/responses', headers, body })
    return (reply.json as { error: { estimated: number } }).error.estimated // safe: a refusal of this cap
  }
  t.true((await heldIn('openai/gpt-4o-mini', 'o1-pro')) < 2 * (await heldIn('openai/gpt-4o-mini')))
  t.true((await heldIn('responder/gpt-5.2', 'o1-pro')) > 2 * (await heldIn('responder/gpt-5.2')))
})

test('named models: data names none', async (t) => {
  const schema = { type: 'object', properties: { model: { type: 'string' } }, examples: [{ model: OPUS }] }
  const tool = (input_schema: JsonObject) => ({ tools: [{ name: 'buy', input_schema }], metadata: { model: OPUS } })
  const other = { ...schema, examples: [{ mulde: OPUS }] }
  t.is(await heldFor(t, { model: HAIKU, ...tool(schema) }), await heldFor(t, { model: HAIKU, ...tool(other) }))
})

test('named models: more than can be checked is 400', async (t) => {
  const models = Array.from({ length: 70 }, (_, n) => `m-${n}`)
  const reply = await cost.ask(cost.fixture.scenario(), { as: t.title, extra: { models } })
  t.is(reply.status, 400)
  t.regex(reply.text, /64 models/)
})

for (const stream of [false, true])
  test(`named models: the one that the reply names is billed, ${stream ? 'SSE' : 'JSON'}`, async (t) => {
    const usage = { input_tokens: 100, output_tokens: 40 }
    const message = { ...toMessage({ body: {}, nth: 1 }, { text: 'Yes.', usage }), model: `${OPUS}-20250805` }
    const scenario = cost.fixture.scenario({
      anthropic: stream ? { kind: 'sse', bytes: toSse(toEvents(message)) } : { kind: 'reply', body: message },
    })
    const extra = { model: HAIKU, fallbacks: [{ model: OPUS }] }
    const reply = await cost.ask(scenario, { as: t.title, stream, extra })
    t.is(reply.status, 200)
    t.is((await cost.settled(t.title)).settledNanoUsd, 100 * 15_000 + 40 * 75_000)
  })

test('named models: the one asked is billed as ever when it has answered', async (t) => {
  const usage = { input_tokens: 100, output_tokens: 40 }
  const scenario = cost.fixture.scenario({ anthropic: { kind: 'answer', text: 'Yes.', usage } })
  const reply = await cost.ask(scenario, { as: t.title, extra: { fallbacks: [{ model: OPUS }] } })
  t.is(reply.status, 200)
  t.is((await cost.settled(t.title)).settledNanoUsd, 100 * SONNET.input + 40 * SONNET.output)
})
