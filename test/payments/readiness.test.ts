import test, { type ExecutionContext } from 'ava'
import { openFixture } from '../support/fixture.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import { accountOf, machinePayments } from '../support/stripe/machine-payments.ts'
import { Refusal } from '../support/stripe/refusal.ts'
import { type Department, type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import { agentFixtureEnvironment } from './agent-fixture.ts'

/** Reads `/.well-known/mpp` of a gateway with this Stripe behind it, in twenty concurrent requests. */
async function statusWith(
  t: ExecutionContext,
  { key = 'sk_test_1', department = () => undefined }: { key?: string; department?: Department },
  prepare: (stripe: StripeStandIn) => void = () => {},
) {
  const stripe = await startStripe({ key, departments: [department, machinePayments] })
  t.teardown(stripe.close)
  prepare(stripe)
  const fixture = await openFixture({
    env: { ...agentFixtureEnvironment(stripe), SVC_PIPELINE: PIPELINE, STRIPE_SECRET_KEY: key },
  })
  t.teardown(fixture.close)
  const path = '/.well-known/mpp'
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => send(fixture.gateway.url, { method: 'GET', path, headers: {} })),
  )
  const asked = stripe.seen.filter((request) => request.path === '/v1/account').length
  const statuses = [...new Set(replies.map(({ json }) => valueAt(json, 'payment_methods.0.status')))]
  return { asked, statuses, cache: replies[0]?.headers['cache-control'] }
}

test('readiness: an account that charges is live with a live key, and a test with a test key; Stripe is asked once', async (t) => {
  const live = await statusWith(t, { key: 'sk_live_1' })
  t.deepEqual(live, { asked: 1, statuses: ['production_live'], cache: 'public, max-age=300' })
  t.like(await statusWith(t, {}), { asked: 1, statuses: ['test_mode'] })
})

test('readiness: an account that cannot charge, and a key that Stripe does not know, are not configured', async (t) => {
  const idle = await statusWith(t, { key: 'sk_live_1' }, ({ world }) => {
    accountOf(world).charges_enabled = false
  })
  t.deepEqual(idle, { asked: 1, statuses: ['not_configured'], cache: 'public, max-age=30' })
  const refuse: Department = (_world, { path }) => {
    if (path === '/v1/account') throw new Refusal(401, 'Invalid API Key provided')
  }
  t.like(await statusWith(t, { department: refuse }), { asked: 1, statuses: ['not_configured'] })
})

test('readiness: a restricted key that may not read its account is believed; a Stripe that is down promises nothing', async (t) => {
  const forbid: Department = (_world, { path }) => {
    if (path === '/v1/account') throw new Refusal(403, 'The provided key does not have the required permissions')
  }
  t.like(await statusWith(t, { key: 'rk_live_1', department: forbid }), { statuses: ['production_live'] })
  const down = await statusWith(t, { key: 'sk_live_1' }, (stripe) => {
    stripe.fail(({ path }) => (path === '/v1/account' ? { kind: 'lose-before' } : undefined))
  })
  t.like(down, { statuses: ['not_configured'] })
})
