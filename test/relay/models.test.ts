import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { valueAt } from '../support/json.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import type { Script } from '../support/provider/script.ts'

const LISTED = {
  type: 'model',
  id: 'claude-sonnet-4-5-20250929',
  display_name: 'Claude Sonnet 4.5',
  created_at: '2025-09-29T00:00:00Z',
  max_input_tokens: 1_000_000,
  max_tokens: 64_000,
  capabilities: { image_input: { supported: true }, thinking: { supported: true, types: { enabled: true } } },
  novel: [1, { a: null }],
}
const ALIAS = { ...LISTED, id: 'claude-sonnet-4-5', max_tokens: 32_000 }

/** A provider that has an alias which its list leaves out. */
function answer({ url }: SeenRequest): Script {
  const path = url.split('?')[0]
  if (path === '/v1/models') return { kind: 'reply', body: { data: [LISTED], has_more: false } }
  if (path === '/v1/models/claude-sonnet-4-5') return { kind: 'reply', body: ALIAS }
  if (path === '/v1/models/claude-broken') return { kind: 'error', status: 500 }
  return { kind: 'error', status: 404 }
}

const fixture = await openFixture({
  provider: { acceptAnything: true },
  config: { providers: { tries: 1, forward_headers: ['x-tenant'] } },
})
test.after.always(() => fixture.close())
const get = (path: string) => {
  const scenario = fixture.scenario(answer)
  return { scenario, reply: scenario.send({ method: 'GET', path }) }
}

test('models: the list keeps the fields of the provider', async (t) => {
  const { json } = await get('/v1/models').reply
  t.deepEqual(valueAt(json, 'data.0'), { ...Object(valueAt(json, 'data.0')), ...LISTED })
  t.like(valueAt(json, 'data.0'), { object: 'model', owned_by: 'anthropic' })
})

test('models: one of the list keeps the fields of the provider', async (t) => {
  const { json } = await get(`/v1/models/${LISTED.id}`).reply
  t.deepEqual(json, { ...Object(json), ...LISTED })
})

test('models: one that the list lacks is asked of its provider', async (t) => {
  const { scenario, reply } = get('/v1/models/claude-sonnet-4-5')
  const { status, json } = await reply
  t.is(status, 200)
  t.deepEqual(json, { ...Object(json), ...ALIAS })
  t.true(scenario.seen().some(({ url }) => url === '/v1/models/claude-sonnet-4-5'))
})

test('models: under a prefix it has the name that was asked for', async (t) => {
  const { json } = await get('/v1/models/anthropic/claude-sonnet-4-5').reply
  t.like(json, { id: 'anthropic/claude-sonnet-4-5', max_tokens: 32_000 })
})

test('models: one that its provider does not have either is 404', async (t) => {
  const { status, json } = await get('/v1/models/claude-nobody').reply
  t.is(status, 404)
  t.like(json, { error: { type: 'not_found' } })
})

test('models: a provider that fails is 502, not 404', async (t) => {
  t.is((await get('/v1/models/claude-broken').reply).status, 502)
})

for (const id of ['..', '%2e%2e%2fmessages', 'claude%2F..%2F..%2Ffiles']) {
  test(`models: a name that leads elsewhere is not asked for: ${id}`, async (t) => {
    const { scenario, reply } = get(`/v1/models/${id}`)
    t.is((await reply).status >= 400, true)
    t.deepEqual(
      scenario.seen().filter(({ url }) => !url.startsWith('/v1/models?')),
      [],
    )
  })
}

test('models: a list is kept for those who send the same betas and forwarded headers', async (t) => {
  const scenario = fixture.scenario(({ headers }) => {
    const id = `claude-of-${headers['anthropic-beta']}-${headers['x-tenant']}`
    return { kind: 'reply', body: { data: [{ id }], has_more: false } }
  })
  const idOf = async (headers: Record<string, string>) =>
    valueAt((await scenario.send({ method: 'GET', path: '/v1/models', headers })).json, 'data.0.id')
  t.is(await idOf({ 'anthropic-beta': 'secret-model', 'x-tenant': 'one' }), 'claude-of-secret-model-one')
  t.is(await idOf({ 'anthropic-beta': 'other', 'x-tenant': 'one' }), 'claude-of-other-one')
  t.is(await idOf({ 'anthropic-beta': 'other', 'x-tenant': 'two' }), 'claude-of-other-two')
  t.is(await idOf({ 'provider-beta': 'other', 'x-tenant': 'one' }), 'claude-of-other-one')
  t.is(scenario.seen().length, 3)
})
