import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { startCloudGateway } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { createPostgres, isPostgresExpected, query } from '../support/postgres.ts'
import type { Card, StripeObject } from '../support/stripe/objects.ts'
import { openShop, patchRecharge, type Shop, type ShopOptions } from './shop.ts'

const FAST = { SVC_RECHARGE_INTERVAL: '100ms' }
/** The credits of a plan, and a threshold above them: the account is to be recharged at once. */
const LOW = { autoRechargeEnabled: true, autoRechargeThreshold: 600_000, autoRechargeAmount: 1_000_000 }

const testWithPostgres = isPostgresExpected ? test : test.skip

/** Payments of an account that are recharges. */
function recharges({ stripe }: Shop, userId: string): StripeObject[] {
  return stripe.world.objects
    .all('payment_intent')
    .filter(({ metadata }) => (metadata as Record<string, string>).user_id === userId)
}

/** Requests for such payments. */
function asked({ stripe }: Shop): number {
  return stripe.seen.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_intents').length
}

/** A shop in which ann has a plan, with a card. */
async function openWithAnn(t: ExecutionContext, options: ShopOptions = {}, card: Card = 'good'): Promise<Shop> {
  const shop = await openShop(t, { ...options, env: { ...FAST, ...options.env } })
  await shop.buy('ann', 'pro', card)
  await shop.deliver(t)
  t.is((await shop.balance('ann')).credits, 500_000)
  return shop
}

/** Long enough for several further rounds. */
const rounds = () => sleep(600)

test('recharge: an account below its threshold is charged once, before any webhook', async (t) => {
  const shop = await openWithAnn(t)
  t.is((await patchRecharge(shop.url, 'ann', LOW)).status, 200)
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the credits are there')
  const [intent, ...others] = recharges(shop, 'ann')
  t.deepEqual(others, [])
  t.like(intent, { amount: 1000, status: 'succeeded' })
  await shop.deliver(t)
  await rounds()
  t.is((await shop.balance('ann')).credits, 1_500_000)
  t.is(asked(shop), 1)
})

test('recharge: a decline switches it off, says why, and is not tried again', async (t) => {
  const shop = await openWithAnn(t, {}, 'declined')
  await patchRecharge(shop.url, 'ann', LOW)
  await shop.until('ann', ({ autoRechargeEnabled }) => autoRechargeEnabled === false, 'it is off')
  await shop.deliver(t)
  await rounds()
  t.like(await shop.balance('ann'), { credits: 500_000, autoRechargeDisabledReason: 'insufficient_funds' })
  t.is(asked(shop), 1)
  // With a new card its owner switches it on again.
  const [first] = recharges(shop, 'ann')
  const customer = shop.stripe.world.objects.get('customer', String(first?.customer))
  customer.invoice_settings = { default_payment_method: shop.stripe.world.saveCard(customer.id) }
  t.like((await patchRecharge(shop.url, 'ann', { autoRechargeEnabled: true })).json, {
    autoRechargeDisabledReason: null,
  })
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the new card is charged')
})

test('recharge: a card that asks for its owner is a decline', async (t) => {
  const shop = await openWithAnn(t, {}, 'asks-owner')
  await patchRecharge(shop.url, 'ann', LOW)
  const isOff = (reason: unknown) => reason === 'authentication_required'
  await shop.until('ann', ({ autoRechargeDisabledReason: reason }) => isOff(reason), 'it is off')
  t.is(asked(shop), 1)
})

test('recharge: a payment that takes days is ended by its webhook', async (t) => {
  const shop = await openWithAnn(t, {}, 'slow')
  await patchRecharge(shop.url, 'ann', LOW)
  await eventually(() => recharges(shop, 'ann').length === 1, 'it is asked for')
  await rounds()
  t.like(await shop.balance('ann'), { credits: 500_000, autoRechargeEnabled: true })
  t.is(asked(shop), 1)
  shop.stripe.world.finishPayment(String(recharges(shop, 'ann')[0]?.id), 'succeeded')
  await shop.deliver(t)
  t.is((await shop.balance('ann')).credits, 1_500_000)
})

test('recharge: an answer that is lost leads to one charge, and the webhook gives the credits', async (t) => {
  const shop = await openWithAnn(t)
  // All three tries of the package lose their answer.
  shop.stripe.fail(({ method, path }) =>
    method === 'POST' && path === '/v1/payment_intents' ? { kind: 'lose-after' } : undefined,
  )
  await patchRecharge(shop.url, 'ann', LOW)
  await eventually(() => asked(shop) >= 3, 'it is asked for')
  t.is(recharges(shop, 'ann').length, 1)
  await shop.deliver(t)
  t.is((await shop.balance('ann')).credits, 1_500_000)
  await rounds()
  t.is((await shop.balance('ann')).credits, 1_500_000)
  t.is(recharges(shop, 'ann').length, 1)
})

test('recharge: a month is bounded', async (t) => {
  const shop = await openWithAnn(t)
  await patchRecharge(shop.url, 'ann', { ...LOW, autoRechargeMonthlyLimit: 1_500_000 })
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the first is there')
  await patchRecharge(shop.url, 'ann', {
    autoRechargeThreshold: 1_900_000,
    autoRechargeAmount: 2_000_000,
    autoRechargeMonthlyLimit: 2_500_000,
  })
  await rounds()
  t.is((await shop.balance('ann')).credits, 1_500_000)
  t.is(asked(shop), 1)
})

test('recharge: without a card it is switched off', async (t) => {
  const shop = await openWithAnn(t)
  for (const method of shop.stripe.world.objects.all('payment_method')) method.customer = null
  for (const subscription of shop.stripe.world.objects.all('subscription')) subscription.default_payment_method = null
  await patchRecharge(shop.url, 'ann', LOW)
  const isOff = (reason: unknown) => reason === 'no_payment_method'
  await shop.until('ann', ({ autoRechargeDisabledReason: reason }) => isOff(reason), 'it is off')
  t.is(asked(shop), 0)
})

test('recharge: a refund of one takes its credits back', async (t) => {
  const shop = await openWithAnn(t)
  await patchRecharge(shop.url, 'ann', LOW)
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the credits are there')
  await patchRecharge(shop.url, 'ann', { autoRechargeEnabled: false })
  const [intent] = recharges(shop, 'ann')
  shop.stripe.world.refund(String(intent?.latest_charge), 1000)
  await shop.deliver(t)
  t.is((await shop.balance('ann')).credits, 500_000)
})

/** Brings a claim to the point where its process dies with the call on its way, and ends the lease. */
async function crashInCall(
  t: ExecutionContext,
  databaseUrl: string,
  fault: 'lose-before' | 'lose-after',
): Promise<Shop> {
  const shop = await openWithAnn(t, { databaseUrl })
  const { stripe } = shop
  stripe.fail(({ method, path }) => (method === 'POST' && path === '/v1/payment_intents' ? { kind: fault } : undefined))
  await patchRecharge(shop.url, 'ann', LOW)
  await eventually(() => asked(shop) > 0, 'the call is on its way')
  process.kill(-(shop.gateways[0]?.pid ?? 0), 'SIGKILL')
  await shop.gateways[0]?.exited
  t.deepEqual(await query(databaseUrl, 'select state from recharge'), [{ state: 'pending' }])
  return shop
}

/** Another process on the same database. */
async function startAnother(t: ExecutionContext, { stripe, prices }: Shop, databaseUrl: string): Promise<void> {
  const gateway = await startCloudGateway({
    ...FAST,
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_API_BASE: stripe.url,
    STRIPE_PRICE_PRO: prices.pro,
    DATABASE_URL: databaseUrl,
  })
  t.teardown(async () => void (await gateway.stop()))
}

const creditsOf = async (databaseUrl: string) =>
  Number((await query(databaseUrl, `select posted_credits from account where id = 'ann'`))[0]?.posted_credits)

testWithPostgres('recharge: three processes claim once', async (t) => {
  const postgres = await createPostgres(t)
  const databaseUrl = await postgres.createDatabase()
  const shop = await openWithAnn(t, { databaseUrl, processes: 3 })
  shop.stripe.fail(({ method, path }) =>
    method === 'POST' && path === '/v1/payment_intents' ? { kind: 'delay', ms: 300 } : undefined,
  )
  await patchRecharge(shop.url, 'ann', LOW)
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the credits are there')
  await rounds()
  t.is(asked(shop), 1)
  t.deepEqual(await query(databaseUrl, 'select state from recharge'), [{ state: 'succeeded' }])
})

for (const fault of ['lose-before', 'lose-after'] as const) {
  testWithPostgres(
    `recharge: SIGKILL between claim and answer (${fault}) charges once, under the same key`,
    async (t) => {
      const postgres = await createPostgres(t)
      const databaseUrl = await postgres.createDatabase()
      const shop = await crashInCall(t, databaseUrl, fault)
      const keys = () =>
        shop.stripe.seen
          .filter(({ path, method }) => method === 'POST' && path === '/v1/payment_intents')
          .map(({ idempotencyKey }) => idempotencyKey)
      await startAnother(t, shop, databaseUrl)
      await rounds()
      t.is(await creditsOf(databaseUrl), 500_000, 'the lease is another’s')
      shop.stripe.mend()
      await query(databaseUrl, 'update recharge set next_at_ms = 0')
      await eventually(async () => (await creditsOf(databaseUrl)) === 1_500_000, 'the credits are there')
      t.is(recharges(shop, 'ann').length, 1)
      t.is(new Set(keys()).size, 1)
    },
  )
}

testWithPostgres(
  'recharge: a claim that is older than Stripe’s memory of keys is looked up before it is asked again',
  async (t) => {
    const postgres = await createPostgres(t)
    const databaseUrl = await postgres.createDatabase()
    const shop = await crashInCall(t, databaseUrl, 'lose-after')
    shop.stripe.mend()
    shop.stripe.forgetKeys()
    const before = asked(shop)
    const DAY_MS = 24 * 3_600_000
    for (const intent of recharges(shop, 'ann')) intent.created = Number(intent.created) - DAY_MS / 1000
    await query(databaseUrl, `update recharge set next_at_ms = 0, created_at_ms = created_at_ms - ${DAY_MS}`)
    await startAnother(t, shop, databaseUrl)
    await eventually(async () => (await creditsOf(databaseUrl)) === 1_500_000, 'the credits are there')
    t.is(asked(shop), before)
    t.is(recharges(shop, 'ann').length, 1)
  },
)
