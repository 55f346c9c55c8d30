import test from 'ava'
import { sendAs, startCloudGateway } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { StripeEvent } from '../support/stripe/world.ts'
import { openShop, patchRecharge, post, type Shop } from './shop.ts'

const endings: (() => unknown)[] = []
const ROTATED = 'whsec_the_new_one'
let shop: Shop

test.before(async () => {
  const owner = { teardown: (end: () => unknown) => void endings.push(end) }
  shop = await openShop(owner, {
    env: { STRIPE_WEBHOOK_SECRET: `whsec_standin, ${ROTATED}`, SVC_RECHARGE_INTERVAL: '100ms' },
  })
  // The first daily round, soon after the start, would do what only an event may do here.
  await eventually(() => /billing\.reconciled/.test(shop.gateways[0]?.log() ?? ''), 'the first round is over')
})
test.after.always(async () => {
  for (const end of endings.reverse()) await end()
})

/** Returns the newest event of a type. */
function newest(type: string): StripeEvent {
  const found = shop.stripe.world.events.findLast((event) => event.type === type)
  if (found === undefined) throw new Error(`There was no ${type}.`)
  return found
}

test.serial('webhook: a signature that is wrong, old, of another body or missing is 400', async (t) => {
  await shop.buy('ann')
  const event = newest('customer.subscription.created')
  const { deliver, world } = shop.stripe
  const refused = [
    await deliver(event, shop.url, { secret: 'whsec_other' }),
    await deliver(event, shop.url, { atS: world.nowS() - 301 }),
    await deliver(event, shop.url, { atS: world.nowS() + 3600 }),
    await deliver(event, shop.url, { sent: JSON.stringify(event, undefined, 1) }),
    await send(shop.url, { path: '/v1/billing/webhook', body: JSON.stringify(event) }),
    await send(shop.url, { path: '/v1/billing/webhook', body: '', headers: { 'stripe-signature': 't=1,v1=x' } }),
  ]
  for (const reply of refused) {
    t.is(reply.status, 400, reply.text)
    t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
  }
  t.is((await shop.balance('ann')).tier, 'free')
})

test.serial('webhook: either secret is taken while they are rotated, and 299 s old is not too old', async (t) => {
  const { deliver, world } = shop.stripe
  const event = newest('customer.subscription.created')
  t.is((await deliver(event, shop.url, { secret: ROTATED, atS: world.nowS() - 295 })).status, 200)
  t.is((await shop.balance('ann')).tier, 'pro')
})

test.serial('webhook: a signed event whose ids cannot be Stripe’s is 400', async (t) => {
  const event = newest('customer.subscription.created')
  const { object } = event.data
  const odd = [
    ...['', '\0', 'evt_\0', 'evt 1', 'é', 'x'.repeat(256)].map((id) => ({ ...event, id })),
    ...['', '\0', '\ud800'].map((id, nth) => ({ ...event, id: `evt_odd_${nth}`, data: { object: { ...object, id } } })),
    { ...event, type: '' },
  ]
  for (const each of odd) {
    const reply = await shop.stripe.deliver(each, shop.url)
    t.is(reply.status, 400, `${JSON.stringify(each.id)}: ${reply.text}`)
  }
})

test.serial('webhook: more than 256 KB is 413', async (t) => {
  const reply = await send(shop.url, { path: '/v1/billing/webhook', body: Buffer.alloc(257 * 1024, 32) })
  t.is(reply.status, 413)
})

test.serial('webhook: an event that is delivered again, and two about one payment, give credits once', async (t) => {
  await shop.deliver(t)
  const before = await shop.balance('ann')
  t.is(before.credits, 500_000)
  const paid = newest('invoice.paid')
  const replies = await Promise.all([
    ...Array.from({ length: 5 }, () => shop.stripe.deliver(paid, shop.url)),
    ...Array.from({ length: 5 }, (_, i) => shop.stripe.deliver({ ...paid, id: `evt_other_${i}` }, shop.url)),
  ])
  t.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
  t.deepEqual(await shop.balance('ann'), before)
})

test.serial('webhook: the payload is not trusted', async (t) => {
  const { subscription } = await shop.buy('bob')
  await shop.deliver(t)
  shop.stripe.world.change(subscription, { status: 'canceled' })
  await shop.deliver(t)
  t.is((await shop.balance('bob')).tier, 'free')
  // An old snapshot under a new id, in which all is well.
  const old = newest('customer.subscription.created')
  t.is((old.data.object as { status?: string }).status, 'active')
  t.is((await shop.stripe.deliver({ ...old, id: 'evt_late' }, shop.url)).status, 200)
  t.is((await shop.balance('bob')).tier, 'free')
})

test.serial('webhook: a failure is 500, and the same event works later', async (t) => {
  const { subscription } = await shop.buy('cleo')
  const event = newest('customer.subscription.created')
  const mend = shop.stripe.fail(({ path }) =>
    path.endsWith(subscription) ? { kind: 'status', status: 500 } : undefined,
  )
  const failed = await shop.stripe.deliver(event, shop.url)
  mend()
  t.is(failed.status, 500, failed.text)
  t.is((await shop.balance('cleo')).tier, 'free')
  t.is((await shop.stripe.deliver(event, shop.url)).status, 200)
  t.is((await shop.balance('cleo')).tier, 'pro')
})

test.serial('webhook: events that are none of ours are taken and do nothing', async (t) => {
  const object = { id: 'x_1', object: 'thing' }
  for (const type of ['charge.succeeded', 'toString', 'v1.billing.meter.error_report_triggered', 'invoice.paid']) {
    const event = { ...newest('invoice.paid'), id: `evt_${type}`, type, data: { object } }
    const reply = await shop.stripe.deliver(event as StripeEvent, shop.url)
    t.is(reply.status, 200, `${type}: ${reply.text}`)
  }
  await eventually(
    () => /meter\.refused-by-provider/.test(shop.gateways[0]?.log() ?? ''),
    'the meter’s fault is logged',
  )
})

test.serial('subscription: plan, period, dunning and end set the tier', async (t) => {
  const { world } = shop.stripe
  const { subscription } = await shop.buy('dora')
  await shop.deliver(t)
  const first = await shop.balance('dora')
  t.is(first.tier, 'pro')
  world.renew(subscription)
  await shop.deliver(t)
  const second = await shop.balance('dora')
  t.true(String(second.currentPeriodEnd) > String(first.currentPeriodEnd))
  t.is(second.credits, 1_000_000)
  world.change(subscription, { price: shop.prices.team })
  await shop.deliver(t)
  t.is((await shop.balance('dora')).tier, 'team')
  world.change(subscription, { status: 'past_due' })
  await shop.deliver(t)
  t.is((await shop.balance('dora')).tier, 'team')
  world.change(subscription, { status: 'unpaid' })
  await shop.deliver(t)
  t.is((await shop.balance('dora')).tier, 'free')
  t.is((await post(shop.url, 'checkout', 'dora', { tier: 'pro' })).status, 400, 'it can still be paid in the portal')
  world.change(subscription, { status: 'canceled' })
  await shop.deliver(t)
  t.like(await shop.balance('dora'), { tier: 'free', currentPeriodEnd: null, credits: 1_000_000 })
  t.is((await post(shop.url, 'checkout', 'dora', { tier: 'pro' })).status, 200)
})

test.serial('refund: takes its share of the credits, once', async (t) => {
  const { charge } = await shop.buy('eve')
  await shop.deliver(t)
  shop.stripe.world.refund(charge, 500)
  await shop.deliver(t)
  t.is((await shop.balance('eve')).credits, 375_000)
  await shop.stripe.deliver({ ...newest('charge.refunded'), id: 'evt_again' }, shop.url)
  t.is((await shop.balance('eve')).credits, 375_000)
  shop.stripe.world.refund(charge, 1500)
  await shop.deliver(t)
  t.is((await shop.balance('eve')).credits, 0)
})

test.serial('dispute: freezes the credits and stops recharging; a won one gives them back', async (t) => {
  const { charge } = await shop.buy('finn')
  await shop.deliver(t)
  t.is((await patchRecharge(shop.url, 'finn', { autoRechargeEnabled: true, autoRechargeThreshold: 0 })).status, 200)
  const dispute = shop.stripe.world.dispute(charge, 2000)
  await shop.deliver(t)
  t.like(await shop.balance('finn'), {
    credits: 0,
    autoRechargeEnabled: false,
    autoRechargeDisabledReason: 'payment_disputed',
  })
  shop.stripe.world.closeDispute(dispute, 'won')
  await shop.deliver(t)
  t.is((await shop.balance('finn')).credits, 500_000)
})

test.serial('customer: a deleted one is forgotten, and the next purchase makes a new one', async (t) => {
  const { customer } = await shop.buy('gus')
  await shop.deliver(t)
  shop.stripe.world.deleteCustomer(customer)
  await shop.deliver(t)
  t.is((await shop.balance('gus')).tier, 'free')
  const again = await shop.buy('gus')
  t.not(again.customer, customer)
})

test.serial('webhook: comes for an account that has never asked for anything', async (t) => {
  const { subscription, charge } = await shop.buy('hal')
  t.truthy(charge)
  // Another gateway with an empty database, as after a restore.
  await using gateway = await startCloudGateway({
    STRIPE_SECRET_KEY: shop.stripe.key,
    STRIPE_WEBHOOK_SECRET: shop.stripe.secret,
    STRIPE_API_BASE: shop.stripe.url,
    STRIPE_PRICE_PRO: shop.prices.pro,
  })
  const event = { ...newest('customer.subscription.created') }
  t.is(event.data.object.id, subscription)
  t.is((await shop.stripe.deliver(event, gateway.url)).status, 200)
  const reply = await shop.stripe.deliver(newest('invoice.paid'), gateway.url)
  t.is(reply.status, 200)
  const balance = await sendAs('hal', gateway.url, { method: 'GET', path: '/v1/billing/balance' })
  t.like(balance.json, { tier: 'pro', credits: 500_000 })
})
