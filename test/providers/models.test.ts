import test from 'ava'
import { linesOf } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { openProviderFixture, PROVIDERS } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({
  config: {
    models: {
      fast: 'house/qwen3-32b',
      'team/large': ['claude-sonnet-4-5', 'gpt-4o'],
      'gpt-4o': ['gpt-4o', 'house/gpt-4o'],
    },
    providers: { tries: 1 },
  },
})
test.after.always(() => fixture.close())

type Scenario = ReturnType<typeof fixture.scenario>
const get = (scenario: Scenario, path = '/v1/models') => scenario.send({ method: 'GET', path })
const idsOf = (json: unknown) => ((valueAt(json, 'data') ?? []) as JsonObject[]).map(({ id }) => id) // safe: a list has objects
/** Far above the gateway's limit of 2.5 s, on any machine; far below those of calls, which are minutes. */
const LONGEST_LIST_MS = 30_000
const OWN = ['fast', 'team/large']
const OF_HOUSE = ['house/gpt-4o', 'house/gpt-4o-mini', 'house/gpt-5', 'house/o3-mini']
const OF_OTHERS = [
  ...['claude-opus-4-8', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
  ...['gpt-4o', 'gpt-4o-mini', 'gpt-5', 'o3-mini'],
  ...['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview'],
]
const unlisted = () => linesOf(fixture.gateway).filter(({ msg }) => msg === 'models.unlisted')

// One after another, from nothing known to everything kept.
test.serial('models: without a credential the list is refused', async (t) => {
  const reply = await fixture
    .scenario()
    .send({ method: 'GET', path: '/v1/models', headers: { authorization: undefined } })
  t.is(reply.status, 401)
})

test.serial('models: when no provider can send its list, the reply is that error', async (t) => {
  const failure = { kind: 'error', status: 500 } as const
  const scenario = fixture.scenario({ anthropic: failure, openai: failure, gemini: failure, house: failure })
  const reply = await get(scenario)
  t.is(reply.status, 502)
  t.is(valueAt(reply.json, 'error.type'), 'upstream_error')
  for (const provider of PROVIDERS) t.is(scenario.seen(provider).length, 1, provider)
})

test.serial(
  'models: a provider that hangs is left out in time, and so is one that fails, with a warning',
  async (t) => {
    const scenario = fixture.scenario({
      house: { kind: 'hang', at: 'before-headers' },
      gemini: { kind: 'error', status: 503 },
    })
    const reply = await scenario.send({ method: 'GET', path: '/v1/models', timeoutMs: LONGEST_LIST_MS })
    t.is(reply.status, 200)
    const ids = idsOf(reply.json)
    t.true(ids.includes('claude-sonnet-4-5') && ids.includes('gpt-4o'))
    t.false(ids.some((id) => String(id).startsWith('house/') || String(id).startsWith('gemini-')))
    t.is(await scenario.seen('house')[0]?.closed, 'client-left')
    await eventually(() => unlisted().some(({ provider }) => provider === 'house'), 'a warning about the house')
    t.true(unlisted().every(({ level }) => level === 40))
  },
)

test.serial(
  'models: the list has the models of all, plain where their names lead back, else with the prefix, and the routes',
  async (t) => {
    const scenario = fixture.scenario()
    const reply = await get(scenario)
    t.is(reply.status, 200)
    t.deepEqual(idsOf(reply.json).sort(), [...OWN, ...OF_OTHERS, ...OF_HOUSE].sort())
    t.deepEqual(scenario.seen('anthropic').length, 0, 'its list is known since the request before')
  },
)

test.serial('models: a list that is known is given without a call', async (t) => {
  const scenario = fixture.scenario()
  const reply = await get(scenario)
  t.is(idsOf(reply.json).length, OWN.length + OF_OTHERS.length + OF_HOUSE.length)
  t.deepEqual(
    PROVIDERS.flatMap((provider) => scenario.seen(provider)),
    [],
  )
})

test.serial('models: every entry has the members that the SDKs of both dialects read', async (t) => {
  const { json } = await get(fixture.scenario())
  for (const model of (valueAt(json, 'data') ?? []) as JsonObject[]) {
    t.like(model, { object: 'model', type: 'model' })
    t.true(Number.isSafeInteger(model.created))
    t.false(Number.isNaN(Date.parse(String(model.created_at))))
    t.is(typeof model.display_name, 'string')
    t.is(typeof model.owned_by, 'string')
  }
  t.like(json, { object: 'list', has_more: false })
})

test.serial('models: every name in the list is one that can be asked for', async (t) => {
  const { json } = await get(fixture.scenario())
  for (const id of idsOf(json)) {
    const body = { model: id, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
    const reply = await fixture.scenario().send({ body })
    t.is(reply.status, 200, `${id}: ${reply.text}`)
  }
})

test.serial('models: pages are cut by `limit` and `after_id`', async (t) => {
  const whole = idsOf((await get(fixture.scenario())).json)
  const first = await get(fixture.scenario(), '/v1/models?limit=2')
  t.deepEqual(idsOf(first.json), whole.slice(0, 2))
  t.like(first.json, { has_more: true, first_id: whole[0], last_id: whole[1] })
  const rest = await get(fixture.scenario(), `/v1/models?limit=1000&after_id=${whole[1]}`)
  t.deepEqual(idsOf(rest.json), whole.slice(2))
  t.is((await get(fixture.scenario(), '/v1/models?limit=0')).status, 400)
})

for (const [id, owner] of [
  ['claude-sonnet-4-5', 'anthropic'],
  ['house/gpt-4o', 'system'],
  ['team/large', 'turnpike'],
  ['team%2Flarge', 'turnpike'],
] as const) {
  test.serial(`models: one is found by its name: ${id}`, async (t) => {
    const reply = await get(fixture.scenario(), `/v1/models/${id}`)
    t.is(reply.status, 200, reply.text)
    t.like(reply.json, { id: decodeURIComponent(id), type: 'model', object: 'model', owned_by: owner })
  })
}

test.serial('models: a name that no provider has is answered 404 with the nearest', async (t) => {
  const reply = await get(fixture.scenario(), '/v1/models/claude-sonet-4-5')
  t.is(reply.status, 404)
  t.regex(String(valueAt(reply.json, 'error.message')), /claude-sonet-4-5.*Did you mean `claude-sonnet-4-5`/)
})

test.serial('models: a name that is no text in percent-encoding is the client’s fault', async (t) => {
  const reply = await get(fixture.scenario(), '/v1/models/%E0%A4%A')
  t.true(reply.status === 400 || reply.status === 404, String(reply.status))
})

test.serial('models: windows, output limits and prices are in the forms of Anthropic and of OpenRouter', async (t) => {
  const house = {
    kind: 'reply',
    body: { data: [{ id: 'gpt-4o', max_model_len: 4096, max_output_tokens: 1024, pricing: { hourly: 0 } }] },
  } as const
  const scenario = fixture.scenario({ house: (_, { url }) => (url.includes('models') ? house : undefined) })
  // A view of its own, so that no kept list is read.
  const { json } = await scenario.send({
    method: 'GET',
    path: '/v1/models',
    headers: { 'anthropic-beta': 'with-limits' },
  })
  const entries = new Map(((valueAt(json, 'data') ?? []) as JsonObject[]).map((entry) => [entry.id, entry]))
  t.like(entries.get('claude-sonnet-4-5'), {
    context_length: 200_000,
    max_input_tokens: 200_000,
    top_provider: { context_length: 200_000, max_completion_tokens: null },
    pricing: {
      prompt: '0.000003',
      completion: '0.000015',
      input_cache_read: '0.0000003',
      input_cache_write: '0.00000375',
      request: '0',
    },
  })
  t.like(entries.get('house/gpt-4o'), {
    ...{ max_model_len: 4096, context_length: 4096, max_input_tokens: 4096 },
    ...{ max_output_tokens: 1024, max_completion_tokens: 1024, max_tokens: 1024 },
    top_provider: { context_length: 4096, max_completion_tokens: 1024 },
    pricing: { hourly: 0, prompt: '0.0000025', completion: '0.00001' },
  })
  t.like(entries.get('team/large'), { context_length: 200_000, pricing: { prompt: '0.000003' } }, 'its first model’s')
  const one = await scenario.send({ method: 'GET', path: '/v1/models/claude-sonnet-4-5' })
  t.like(one.json, { context_length: 200_000, pricing: { completion: '0.000015' } })
})

test.serial('models: one of an unknown price has no price, rather than the ceiling’s', async (t) => {
  const body = { data: [{ id: 'house-own-17b' }] }
  const scenario = fixture.scenario({ house: { kind: 'reply', body } })
  const { json } = await scenario.send({
    method: 'GET',
    path: '/v1/models',
    headers: { 'anthropic-beta': 'with-an-unknown' },
  })
  const entry = ((valueAt(json, 'data') ?? []) as JsonObject[]).find(({ id }) => id === 'house/house-own-17b')
  t.truthy(entry)
  for (const name of ['pricing', 'context_length', 'max_tokens', 'top_provider']) t.false(name in (entry ?? {}), name)
})
