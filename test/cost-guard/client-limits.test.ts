import test from 'ava'
import { OPERATOR_KEY, openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { guardedBy, PIPELINE } from '../support/pipelines.ts'

const config = { plugins: { watch: false, 'cost-guard': { client_limits: true, refusal_status: 402 } } }
const ACCOUNT = {
  'anthropic-ratelimit-requests-remaining': '7',
  'anthropic-ratelimit-unified-status': 'allowed_warning',
  'anthropic-ratelimit-unified-5h-utilization': '0.91',
  'anthropic-priority-input-tokens-limit': '9',
  'anthropic-organization-id': 'org_operators',
}
const fixture = await openFixture({ config, env: { SVC_PIPELINE: PIPELINE } })
/** Has no key of its own: callers bring theirs. */
const local = await openFixture({ config, env: { ANTHROPIC_API_KEY: '', SVC_PIPELINE: PIPELINE } })
test.after.always(() => Promise.all([fixture.close(), local.close()]))

const SESSION = { 'x-claude-code-session-id': '0b9c0f1e-7d53-4c1e-9a57-30e1a3f5a001' }
const CAPPED = { 'x-svc-pipe': guardedBy('per_day=100') }
const OWN_KEY = { 'x-api-key': OPERATOR_KEY }
const UNIFIED = 'anthropic-ratelimit-unified'

for (const stream of [false, true]) {
  test(`client limits: Claude Code gets the caller's cap, and nothing of the operator's account (stream: ${stream})`, async (t) => {
    const scenario = fixture.scenario({ kind: 'answer', headers: ACCOUNT })
    const { status, headers } = await scenario.send({
      body: ask(t.title, { stream }),
      headers: { ...SESSION, ...CAPPED },
    })
    t.is(status, 200)
    t.like(headers, {
      [`${UNIFIED}-status`]: 'allowed',
      [`${UNIFIED}-representative-claim`]: 'overage',
      [`${UNIFIED}-overage-status`]: 'allowed',
    })
    t.true(Number(headers[`${UNIFIED}-overage-utilization`]) < 0.1)
    t.is(Number(headers[`${UNIFIED}-reset`]) % 86_400, 0)
    t.is(headers['x-svc-budget-day-limit'], '100')
    const others = Object.keys(ACCOUNT).filter((name) => name !== `${UNIFIED}-status`)
    for (const name of others) t.is(headers[name], undefined, name)
  })

  test(`client limits: a cap's refusal is what Claude Code ends its turn with (stream: ${stream})`, async (t) => {
    const scenario = fixture.scenario()
    const headers = { ...SESSION, 'x-svc-pipe': guardedBy('per_day=0.0000001&per_month=50') }
    const sentAtMs = Date.now()
    const reply = await scenario.send({ body: ask(t.title, { stream }), headers })
    t.is(reply.status, 429)
    t.like(reply.json, { type: 'error', error: { type: 'billing_error', limit: 0.0000001 } })
    t.regex(
      String(valueAt(reply.json, 'error.message')),
      /^Of \$1e-7 a day for this key, .* Resets at .*T00:00:00\.000Z\.$/,
    )
    t.like(reply.headers, {
      'x-should-retry': 'false',
      [`${UNIFIED}-status`]: 'rejected',
      [`${UNIFIED}-overage-utilization`]: '1',
      [`${UNIFIED}-overage-surpassed-threshold`]: '1',
      [`${UNIFIED}-overage-period`]: 'daily',
      [`${UNIFIED}-overage-disabled-reason`]: 'org_spend_cap_reached',
    })
    // With either, Claude Code shows a text of its own in place of the message.
    t.is(reply.headers[`${UNIFIED}-representative-claim`], undefined)
    t.is(reply.headers[`${UNIFIED}-overage-status`], undefined)
    const resetMs = Number(reply.headers[`${UNIFIED}-reset`]) * 1000
    t.is(new Date(resetMs).toISOString(), String(valueAt(reply.json, 'error.resets_at')))
    t.true(Number(reply.headers['retry-after']) * 1000 <= resetMs - sentAtMs + 1000)
    t.is(scenario.seen().length, 0)
  })
}

test('client limits: a refusal by the cap of one request has no reset', async (t) => {
  const headers = { ...SESSION, 'x-svc-pipe': guardedBy('per_request=0.0000001&per_day=5') }
  const reply = await fixture.scenario().send({ body: ask(t.title), headers })
  t.is(reply.status, 429)
  t.is(valueAt(reply.json, 'error.type'), 'billing_error')
  t.is(reply.headers['x-should-retry'], 'false')
  t.is(reply.headers['retry-after'], undefined)
  t.is(reply.headers[`${UNIFIED}-status`], undefined)
})

test('client limits: other clients of Messages get the usual form', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', headers: ACCOUNT })
  const served = await scenario.send({ body: ask(`${t.title} 1`), headers: CAPPED })
  t.is(served.status, 200)
  t.deepEqual(
    Object.keys(served.headers).filter((name) => name in ACCOUNT || name.startsWith(UNIFIED)),
    [],
  )
  const refused = await scenario.send({
    body: ask(`${t.title} 2`),
    headers: { 'x-svc-pipe': guardedBy('per_day=0') },
  })
  t.is(refused.status, 402)
  t.is(valueAt(refused.json, 'error.type'), 'cost_limit_per_day')
})

test('client limits: without a cap the provider’s limits pass', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', headers: ACCOUNT })
  t.like((await scenario.send({ body: ask(t.title), headers: SESSION })).headers, ACCOUNT)
})

test('client limits: those of an account of the caller’s own pass beside its cap', async (t) => {
  const scenario = local.scenario({ kind: 'answer', headers: ACCOUNT })
  const { status, headers } = await scenario.send({ body: ask(t.title), headers: { ...OWN_KEY, ...CAPPED } })
  t.is(status, 200)
  t.like(headers, { ...ACCOUNT, 'x-svc-budget-day-limit': '100' })
})

test('client limits: token counts hide the operator’s account, not the caller’s own', async (t) => {
  const send = async (opened: typeof fixture) => {
    const scenario = opened.scenario({ kind: 'reply', body: { input_tokens: 3 }, headers: ACCOUNT })
    return await scenario.send({ path: '/v1/messages/count_tokens', body: ask(t.title), headers: OWN_KEY })
  }
  const [hidden, own] = [await send(fixture), await send(local)]
  t.deepEqual([hidden.status, own.status], [200, 200])
  for (const name of Object.keys(ACCOUNT)) t.is(hidden.headers[name], undefined, name)
  t.like(own.headers, ACCOUNT)
})
