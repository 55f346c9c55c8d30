import test from 'ava'
import { createKey, sendAs, startCloudGateway } from '../support/accounts.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openShop, patchRecharge, post, type Shop } from './shop.ts'

const endings: (() => unknown)[] = []
let shop: Shop

test.before(async () => {
  shop = await openShop({ teardown: (end) => void endings.push(end) }, { env: { SVC_RATE_LIMIT: '0' } })
})
test.after.always(async () => {
  for (const end of endings.reverse()) await end()
})

test('billing: reports how the stand-in checks requests', (t) => {
  t.log(shop.stripe.checkedBy)
  t.pass()
})

test('checkout: answers the address and id of a page of Stripe’s', async (t) => {
  const reply = await post(shop.url, 'checkout', 'ann', {
    tier: 'pro',
    successUrl: 'https://app.example.com/ok?session={CHECKOUT_SESSION_ID}',
  })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(Object.keys(reply.json as object).sort(), ['sessionId', 'url'])
  const session = shop.stripe.world.objects.get('checkout.session', String(valueAt(reply.json, 'sessionId')))
  t.is(valueAt(reply.json, 'url'), session.url)
  t.like(session, {
    client_reference_id: 'ann',
    success_url: 'https://app.example.com/ok?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://app.example.com/dashboard',
    metadata: { user_id: 'ann', tier: 'pro' },
    subscription_data: { metadata: { user_id: 'ann', tier: 'pro' } },
    line_items: [{ price: shop.prices.pro, quantity: '1' }],
  })
})

test('checkout: two at once make one customer', async (t) => {
  const mend = shop.stripe.fail(({ path, form }) =>
    path === '/v1/customers' && valueAt(form, 'metadata.user_id') === 'bob' ? { kind: 'delay', ms: 50 } : undefined,
  )
  const replies = await Promise.all(['pro', 'team', 'pro'].map((tier) => post(shop.url, 'checkout', 'bob', { tier })))
  mend()
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
    replies.map(({ text }) => text).join(),
  )
  const sessions = replies.map(({ json }) =>
    shop.stripe.world.objects.get('checkout.session', String(valueAt(json, 'sessionId'))),
  )
  t.is(new Set(sessions.map(({ customer }) => customer)).size, 1)
  const made = shop.stripe.world.objects
    .all('customer')
    .filter(({ metadata }) => valueAt(metadata, 'user_id') === 'bob')
  t.is(made.length, 1)
})

for (const [what, body] of Object.entries({
  'a tier that is not sold': { tier: 'gold' },
  'the free tier': { tier: 'free' },
  'no tier': {},
  'a member that is not known': { tier: 'pro', coupon: 'x' },
  'a script as address': { tier: 'pro', successUrl: 'javascript:alert(1)' },
  'no address': { tier: 'pro', cancelUrl: 'there' },
  'an address with a password': { tier: 'pro', cancelUrl: 'https://a:b@example.com' },
  'an address that is no text': { tier: 'pro', successUrl: 7 },
  '`__proto__`': JSON.parse('{"tier":"pro","__proto__":{"x":1}}'),
})) {
  test(`checkout: ${what} is 400`, async (t) => {
    const reply = await post(shop.url, 'checkout', 'cleo', body)
    t.is(reply.status, 400, reply.text)
    t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
  })
}

test('checkout: a body that is no JSON is 400, one that is no object too', async (t) => {
  for (const body of ['{', '[]', '"pro"', 'null']) {
    const reply = await sendAs('cleo', shop.url, { path: '/v1/billing/checkout', body })
    t.is(reply.status, 400, `${body}: ${reply.text}`)
  }
})

test('checkout: a user with a plan is sent to the portal', async (t) => {
  await shop.buy('dora')
  // Before its webhooks have come: Stripe is asked.
  const reply = await post(shop.url, 'checkout', 'dora', { tier: 'team' })
  t.is(reply.status, 400, reply.text)
  t.regex(String(valueAt(reply.json, 'error.message')), /portal/)
})

test('portal: opens for customers, and names the checkout to others', async (t) => {
  const stranger = await post(shop.url, 'portal', 'eve', {})
  t.is(stranger.status, 400)
  t.regex(stranger.text, /checkout/)
  await shop.buy('finn')
  const reply = await post(shop.url, 'portal', 'finn', { returnUrl: 'https://app.example.com/account' })
  t.is(reply.status, 200, reply.text)
  t.deepEqual(Object.keys(reply.json as object), ['url'])
  const bare = await sendAs('finn', shop.url, { path: '/v1/billing/portal' })
  t.is(bare.status, 200, bare.text)
  const [newest] = shop.stripe.world.objects.all('billing_portal.session')
  t.is(newest?.return_url, 'https://app.example.com/dashboard')
  t.is((await post(shop.url, 'portal', 'finn', { returnUrl: 'ftp://x' })).status, 400)
})

test('balance: of a free account is the record of the specification', async (t) => {
  t.deepEqual(await shop.balance('gus'), {
    tier: 'free',
    credits: 0,
    currentPeriodEnd: null,
    autoRechargeEnabled: false,
    upgradeUrl: 'https://app.example.com/dashboard',
  })
})

test('balance: of a paid account has all members, and no address to upgrade', async (t) => {
  await shop.buy('hal', 'team')
  await shop.deliver(t)
  const { currentPeriodEnd, ...rest } = await shop.balance('hal')
  t.regex(String(currentPeriodEnd), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.true(Date.parse(String(currentPeriodEnd)) > Date.now())
  t.deepEqual(rest, {
    tier: 'team',
    credits: 2_000_000,
    autoRechargeEnabled: false,
    autoRechargeThreshold: 100_000,
    autoRechargeAmount: 1_000_000,
    autoRechargeMonthlyLimit: 10_000_000,
    autoRechargeDisabledReason: null,
    upgradeUrl: null,
  })
})

test('auto-recharge: needs a plan', async (t) => {
  const reply = await patchRecharge(shop.url, 'ida', { autoRechargeEnabled: true })
  t.is(reply.status, 400)
  t.regex(reply.text, /paid plan/)
})

test('auto-recharge: members that are left out stay as they are', async (t) => {
  await shop.buy('jo')
  await shop.deliver(t)
  const first = await patchRecharge(shop.url, 'jo', { autoRechargeEnabled: true, autoRechargeThreshold: 0 })
  t.is(first.status, 200, first.text)
  t.like(first.json, { autoRechargeEnabled: true, autoRechargeThreshold: 0, autoRechargeAmount: 1_000_000 })
  const second = await patchRecharge(shop.url, 'jo', { autoRechargeAmount: 2_000_000 })
  t.like(second.json, { autoRechargeEnabled: true, autoRechargeThreshold: 0, autoRechargeAmount: 2_000_000 })
  t.deepEqual(await shop.balance('jo'), second.json)
})

for (const [what, body] of Object.entries({
  'nothing to set': {},
  'a member that is not known': { autoRechargeEnabled: true, enabled: true },
  'a threshold below 0': { autoRechargeThreshold: -1 },
  'half a credit': { autoRechargeThreshold: 0.5 },
  'less than five dollars': { autoRechargeAmount: 499_000 },
  'a part of a cent': { autoRechargeAmount: 500_001 },
  'an amount not above the threshold': { autoRechargeThreshold: 1_000_000, autoRechargeAmount: 1_000_000 },
  'a month that has no room for one': { autoRechargeMonthlyLimit: 600_000 },
  'text for a number': { autoRechargeThreshold: '1' },
})) {
  test(`auto-recharge: ${what} is 400`, async (t) => {
    const reply = await patchRecharge(shop.url, 'kim', body)
    t.is(reply.status, 400, reply.text)
    t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
  })
}

test('billing: every route of sessions refuses no token, a false one and an API key', async (t) => {
  const { key } = await createKey(shop.gateways[0] as { url: string }, 'lea')
  const routes = [
    ['POST', 'checkout'],
    ['POST', 'portal'],
    ['GET', 'balance'],
    ['PATCH', 'auto-recharge'],
  ] as const
  for (const [method, route] of routes) {
    for (const authorization of [undefined, 'Bearer nonsense', `Bearer ${key}`]) {
      const headers = authorization === undefined ? { authorization: 'Basic x' } : { authorization }
      const reply = await send(shop.url, {
        method,
        path: `/v1/billing/${route}`,
        headers,
        body: method === 'GET' ? undefined : {},
      } as never)
      t.is(reply.status, 401, `${method} ${route} ${authorization}`)
      t.is(valueAt(reply.json, 'error.type'), 'authentication_error')
    }
  }
})

test('billing: trouble at Stripe is 503 and can be tried again', async (t) => {
  await post(shop.url, 'checkout', 'mia', { tier: 'pro' })
  const mend = shop.stripe.fail(({ form }) =>
    form.client_reference_id === 'mia' ? { kind: 'status', status: 500 } : undefined,
  )
  const reply = await post(shop.url, 'checkout', 'mia', { tier: 'pro' })
  mend()
  t.is(reply.status, 503, reply.text)
  t.is(valueAt(reply.json, 'error.type'), 'service_unavailable')
  t.is(reply.headers['retry-after'], '1')
})

test('billing: an answer of Stripe that is lost leaves one customer', async (t) => {
  let lost = 0
  const mend = shop.stripe.fail(({ path, form }) =>
    path === '/v1/customers' && valueAt(form, 'metadata.user_id') === 'nora' && lost++ < 2
      ? { kind: lost === 1 ? 'lose-after' : 'lose-before' }
      : undefined,
  )
  const reply = await post(shop.url, 'checkout', 'nora', { tier: 'pro' })
  mend()
  t.is(reply.status, 200, reply.text)
  t.is(lost, 3)
  const made = shop.stripe.world.objects
    .all('customer')
    .filter(({ metadata }) => valueAt(metadata, 'user_id') === 'nora')
  t.is(made.length, 1)
})

test('billing: without a key the balance is shown and nothing is sold', async (t) => {
  await using gateway = await startCloudGateway()
  const { url } = gateway
  const balance = await sendAs('ann', url, { method: 'GET', path: '/v1/billing/balance' })
  t.like(balance.json, { tier: 'free', credits: 0, currentPeriodEnd: null, autoRechargeEnabled: false })
  t.regex(String(valueAt(balance.json, 'upgradeUrl')), /^http:\/\/localhost:\d+\/dashboard$/)
  for (const [route, body] of [
    ['checkout', { tier: 'pro' }],
    ['portal', {}],
  ] as const) {
    const reply = await post(url, route, 'ann', body)
    t.is(reply.status, 503)
    t.is(valueAt(reply.json, 'error.type'), 'internal_error')
    t.is(valueAt(reply.json, 'error.detail'), 'billing_not_configured:checkout')
    t.true(String(valueAt(reply.json, 'error.message')).startsWith('billing_not_configured:checkout'))
  }
  t.is((await post(url, 'checkout', 'ann', { tier: 'gold' })).status, 400)
  t.is((await patchRecharge(url, 'ann', { autoRechargeEnabled: true })).status, 503)
  const webhook = await send(url, { path: '/v1/billing/webhook', headers: { authorization: undefined }, body: {} })
  t.is(webhook.status, 503)
})

test('billing: a key that Stripe refuses is reported as not configured, and not shown', async (t) => {
  const key = 'sk_test_refused_canary'
  await using gateway = await startCloudGateway({
    STRIPE_SECRET_KEY: key,
    STRIPE_API_BASE: shop.stripe.url,
    STRIPE_PRICE_PRO: shop.prices.pro,
  })
  const reply = await post(gateway.url, 'checkout', 'ann', { tier: 'pro' })
  t.is(reply.status, 503, reply.text)
  t.is(valueAt(reply.json, 'error.detail'), 'billing_not_configured:checkout')
  t.false(reply.text.includes('canary'))
  await gateway.stop()
  t.false(gateway.log().includes('canary'))
})

test('billing: where origins are listed users are sent nowhere else', async (t) => {
  await using gateway = await startCloudGateway({
    STRIPE_SECRET_KEY: shop.stripe.key,
    STRIPE_API_BASE: shop.stripe.url,
    STRIPE_PRICE_PRO: shop.prices.pro,
    SVC_PUBLIC_URL: 'https://gateway.example.com/',
    SVC_BILLING_ORIGINS: 'https://app.example.com',
  })
  const buy = (successUrl: string) => post(gateway.url, 'checkout', 'olga', { tier: 'pro', successUrl })
  t.is((await buy('https://evil.example.com')).status, 400)
  t.is((await buy('https://app.example.com.evil.com')).status, 400)
  t.is((await buy('https://app.example.com/x')).status, 200)
  t.is((await buy('https://gateway.example.com/dashboard')).status, 200)
})

test('billing: a plain address for Stripe’s API is refused unless it is this machine', async (t) => {
  const error = await t.throwsAsync(startCloudGateway({ STRIPE_API_BASE: 'http://stripe.example.com' }))
  t.regex(error.message, /billing\.api_base.*https/)
})
