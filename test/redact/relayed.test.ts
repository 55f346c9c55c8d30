import test from 'ava'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture, PROVIDERS } from '../support/provider-fixture.ts'

const ROUTES = ['/v1/messages/batches', '/v1/files', '/v1/embeddings', '/v1/responses/input_tokens']
const providers = { allow_routes: ROUTES }
const [guarded, free] = await Promise.all([
  openProviderFixture({
    env: { SVC_PIPELINE: 'exact-cache' },
    config: { pipeline: { locked: ['redact'] }, providers },
  }),
  openProviderFixture({ config: { providers, plugins: { watch: false, redact: { mode: 'observe' } } } }),
])
test.after.always(() => Promise.all([guarded.close(), free.close()]))

const VALUE = 'canary1@acme-corp.io'
const COUNT = '/v1/messages/count_tokens'
const bodyFor = (model: string, text = VALUE) => JSON.stringify({ model, messages: [{ role: 'user', content: text }] })

for (const name of PROVIDERS)
  test(`redact: a token count reaches ${name} with placeholders`, async (t) => {
    const scenario = guarded.scenario()
    const reply = await scenario.send({ path: COUNT, body: bodyFor(MODELS[name]) })
    t.is(reply.status, 200, reply.text)
    t.true(Number(valueAt(reply.json, 'input_tokens')) > 0)
    t.is(reply.headers['x-svc-redact'], 'mode=redact; email=1')
    for (const { raw } of scenario.seen(name)) {
      t.false(raw.includes(VALUE))
      t.regex(raw.toString(), /REDACTED_EMAIL_/)
    }
  })

test('redact: a token count that is to be blocked, or cannot be read, is refused', async (t) => {
  const scenario = guarded.scenario()
  const headers = { 'x-svc-pipe': 'redact?mode=block' }
  const blocked = await scenario.send({ path: COUNT, headers, body: bodyFor(MODELS.anthropic) })
  t.is(blocked.status, 400, blocked.text)
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  const messages = [{ role: 'user', content: [{ type: 'image', source }] }]
  const unread = await scenario.send({ path: COUNT, body: JSON.stringify({ model: MODELS.anthropic, messages }) })
  t.is(unread.status, 400, unread.text)
  t.deepEqual(scenario.seen('anthropic'), [])
})

for (const path of ROUTES)
  test(`redact: ${path} is refused to callers whose content is guarded`, async (t) => {
    const scenario = guarded.scenario()
    const reply = await scenario.send({ path, body: ask(VALUE) })
    t.is(reply.status, 403, reply.text)
    t.regex(String(valueAt(reply.json, 'error.message')), /`redact` guards/)
    t.deepEqual(scenario.seen('anthropic'), [])
  })

test('redact: a caller that names it is guarded on relayed routes, too, and no other one is', async (t) => {
  const scenario = free.scenario()
  const named = { 'x-svc-pipe': 'redact?mode=redact' }
  const refused = await scenario.send({ path: '/v1/files', body: ask(VALUE), headers: named })
  t.is(refused.status, 403)
  await scenario.send({ path: COUNT, body: bodyFor(MODELS.anthropic), headers: named })
  await scenario.send({ path: COUNT, body: bodyFor(MODELS.anthropic) })
  t.deepEqual(
    scenario.seen('anthropic').map(({ raw }) => raw.includes(VALUE)),
    [false, true],
  )
})

test('redact: where it is locked, plugins that a caller names run behind it', async (t) => {
  const scenario = guarded.scenario()
  const body = { ...ask(VALUE), model: MODELS.anthropic }
  const reply = await scenario.send({ body, headers: { 'x-svc-pipe': 'exact-cache,cost-guard' } })
  t.is(reply.headers['x-svc-pipe'], 'redact,exact-cache,cost-guard')
  const usual = await scenario.send({ body })
  t.is(usual.headers['x-svc-pipe'], 'redact,exact-cache')
})

test('redact: a query with a value is refused', async (t) => {
  const scenario = guarded.scenario()
  const path = `/v1/messages?note=${encodeURIComponent(VALUE)}`
  const reply = await scenario.send({ path, body: { ...ask('hi'), model: MODELS.anthropic } })
  t.is(reply.status, 400, reply.text)
  t.regex(reply.text, /1 × query/)
  t.deepEqual(scenario.seen('anthropic'), [])
})

test('redact: a value in a member that another one of its name hides is refused', async (t) => {
  const scenario = guarded.scenario()
  const call = `{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":"${VALUE}","a":"x"}}`
  const result = '{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}'
  const body = `{"model":"${MODELS.anthropic}","max_tokens":9,"messages":[{"role":"user","content":"Go"},{"role":"assistant","content":[${call}]},{"role":"user","content":[${result}]}]}`
  const reply = await scenario.send({ body })
  t.is(reply.status, 400, reply.text)
  t.regex(reply.text, /two members of one name/)
  t.deepEqual(scenario.seen('anthropic'), [])
})

test('redact: in observe mode requests pass unchanged, and a report sums what was found in them', async (t) => {
  const scenario = free.scenario()
  const headers = { 'x-svc-pipe': 'redact', 'x-api-key': 'observed-caller-key' }
  const body = { ...ask(`${VALUE} and ghp_0123456789abcdefghijABCDEFGHIJ012345`), model: MODELS.anthropic }
  for (const each of [body, body, { ...ask('hi'), model: MODELS.anthropic }])
    await scenario.send({ body: each, headers })
  t.is(scenario.seen('anthropic').filter(({ raw }) => raw.includes(VALUE)).length, 2)
  const report = await scenario.send({ method: 'GET', path: '/v1/redact/report', headers })
  t.like(report.json, {
    requests: 3,
    requests_with_values: 2,
    kinds: { email: { requests: 2, values: 2 }, token: { requests: 2, values: 2 } },
    unread: {},
    detector_failures: 0,
  })
  t.false(report.text.includes(VALUE))
  const other = await scenario.send({
    method: 'GET',
    path: '/v1/redact/report',
    headers: { 'x-api-key': 'another-caller-key' },
  })
  t.like(other.json, { requests: 0, kinds: {} })
})
