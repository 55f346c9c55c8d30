import test from 'ava'
import { type JsonObject, valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

/** USD that no request of these tests costs. */
const AMPLE = 100
const fixture = await openProviderFixture({
  config: {
    server: { body_limit: '64kb' },
    costs: { per_day: AMPLE },
    providers: { tries: 1 },
    plugins: { watch: false, 'cost-guard': { client_limits: true, refusal_status: 402 } },
  },
})
test.after.always(() => fixture.close())

const TOO_LONG = 'prompt is too long: 210000 tokens > 200000 maximum'

test('limits: a conversation beyond the model’s window has the code after which clients compact', async (t) => {
  for (const stream of [false, true]) {
    const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 400, message: TOO_LONG } })
    const reply = await scenario.send({
      path: '/v1/responses',
      body: { model: MODELS.anthropic, input: t.title, stream },
    })
    t.is(reply.status, 400)
    t.like(reply.json, { error: { code: 'context_length_exceeded', message: TOO_LONG } })
  }
})

test('limits: a body that is too large is a conversation that is too long, here and at the provider', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 413, message: 'Request too large' } })
  for (const input of [t.title, 'x'.repeat(70_000)]) {
    const reply = await scenario.send({ path: '/v1/responses', body: { model: MODELS.anthropic, input } })
    t.is(reply.status, 400)
    t.is(valueAt(reply.json, 'error.code'), 'context_length_exceeded')
  }
  t.is(scenario.seen('anthropic').length, 1)
})

test('limits: a provider’s short limit has its wait and code, an unpaid account is final', async (t) => {
  const limited = fixture.scenario({
    anthropic: { kind: 'error', status: 429, headers: { 'retry-after': '7' } },
  })
  const body: JsonObject = { model: MODELS.anthropic, input: t.title }
  const wait = await limited.send({ path: '/v1/responses', body })
  t.is(wait.status, 429)
  t.is(wait.headers['retry-after'], '7')
  t.is(valueAt(wait.json, 'error.code'), 'rate_limit_exceeded')
  const unpaid = fixture.scenario({ anthropic: { kind: 'error', status: 402, type: 'billing_error' } })
  const stop = await unpaid.send({ path: '/v1/responses', body })
  t.is(stop.status, 429)
  t.like(stop.json, { error: { type: 'usage_limit_reached', code: 'insufficient_quota' } })
})

test('limits: `/status` shows the caller’s own cap, and nothing of the operator’s account', async (t) => {
  const accounts = {
    'x-codex-primary-used-percent': '99',
    'x-codex-secondary-reset-at': '1',
    'x-codex-other-primary-used-percent': '98',
    'x-codex-credits-balance': '5',
    'x-codex-turn-state': 'sticky',
    'x-ratelimit-remaining-tokens': '7',
  }
  for (const stream of [false, true]) {
    const scenario = fixture.scenario({ responder: { kind: 'answer', headers: accounts } })
    const body = { model: MODELS.responder, input: `${t.title} ${stream}`, stream }
    const { status, headers } = await scenario.send({ path: '/v1/responses', body })
    t.is(status, 200)
    t.is(headers['x-codex-primary-window-minutes'], '1440')
    const used = Number(headers['x-codex-primary-used-percent'])
    t.true(used > 0 && used < 99)
    t.is(Number(headers['x-codex-primary-reset-at']) % 86_400, 0)
    t.is(headers['x-codex-turn-state'], 'sticky')
    const shown = Object.keys(headers).filter((name) => name in accounts || name.startsWith('x-codex-secondary'))
    t.deepEqual(shown.sort(), ['x-codex-primary-used-percent', 'x-codex-turn-state'])
  }
})

test('limits: a refusal by a cap is final, and has its reset in seconds, whatever status the operator chose', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': 'cost-guard?per_day=0.000001' }
  const body = { model: MODELS.anthropic, input: t.title, stream: true }
  const reply = await scenario.send({ path: '/v1/responses', headers, body })
  t.is(reply.status, 429)
  t.is(reply.headers['x-should-retry'], 'false')
  t.is(reply.headers['retry-after'], undefined)
  t.is(reply.headers['x-codex-promo-message'], "Raise the gateway's cap of $0.000001 a day")
  t.truthy(reply.headers['x-codex-primary-used-percent'])
  t.like(reply.json, { error: { type: 'usage_limit_reached', code: 'cost_limit_per_day', plan_type: null } })
  const resetsAt = Number(valueAt(reply.json, 'error.resets_at'))
  t.is(resetsAt % 86_400, 0)
  t.true(resetsAt * 1000 > Date.now())
  t.is(scenario.seen('anthropic').length, 0)
})
