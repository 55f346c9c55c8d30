import test, { type ExecutionContext } from 'ava'
import { sampled } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { valueAt } from '../support/json.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import type { Card, StripeObject } from '../support/stripe/objects.ts'
import type { StripeRequest } from '../support/stripe/stand-in.ts'
import { openShop, openShopOf, openShopProcess, patchRecharge, type Shop } from './shop.ts'

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

/** Returns whether a request is for such a payment. */
function isCall({ method, path, form }: StripeRequest, userId: string): boolean {
  return method === 'POST' && path === '/v1/payment_intents' && valueAt(form, 'metadata.user_id') === userId
}

/** Counts the requests for one. */
function asked({ stripe }: Shop, userId: string): number {
  return stripe.seen.filter((request) => isCall(request, userId)).length
}

/** One shop for all tests that need no database of their own; each has a user of its own. */
const endings: (() => unknown)[] = []
let shared: Shop

test.before(async () => {
  shared = await openShop({ teardown: (end) => void endings.push(end) }, { env: FAST })
})
test.after.always(async () => {
  for (const end of endings.reverse()) await end()
})

/** Buys a plan for the user. */
async function enter(t: ExecutionContext, shop: Shop, userId: string, card: Card = 'good'): Promise<void> {
  await shop.buy(userId, 'pro', { card })
  await shop.deliver(t)
  t.is((await shop.balance(userId)).credits, 500_000)
}

let markers = 0

/** Recharges another account: a whole round has passed since the requests before. */
async function anotherRound(t: ExecutionContext, shop: Shop): Promise<void> {
  const marker = `marker-${++markers}`
  await enter(t, shop, marker)
  await patchRecharge(shop.url, marker, LOW)
  await shop.until(marker, ({ credits }) => credits === 1_500_000, 'a round has passed')
}

test.serial('recharge: an account below its threshold is charged once, before any webhook', async (t) => {
  const shop = shared
  await enter(t, shop, 'bob')
  t.is((await patchRecharge(shop.url, 'bob', LOW)).status, 200)
  await shop.until('bob', ({ credits }) => credits === 1_500_000, 'the credits are there')
  const [intent, ...others] = recharges(shop, 'bob')
  t.deepEqual(others, [])
  t.like(intent, { amount: 1000, status: 'succeeded' })
  await shop.deliver(t)
  await anotherRound(t, shop)
  t.is((await shop.balance('bob')).credits, 1_500_000)
  t.is(asked(shop, 'bob'), 1)
})

test.serial('recharge: a decline switches it off, records why, and is not retried', async (t) => {
  const shop = shared
  await enter(t, shop, 'cleo', 'declined')
  await patchRecharge(shop.url, 'cleo', LOW)
  await shop.until('cleo', ({ autoRechargeEnabled }) => autoRechargeEnabled === false, 'it is off')
  await shop.deliver(t)
  await anotherRound(t, shop)
  t.like(await shop.balance('cleo'), { credits: 500_000, autoRechargeDisabledReason: 'insufficient_funds' })
  t.is(asked(shop, 'cleo'), 1)
  // With a new card its owner switches it on again.
  const [first] = recharges(shop, 'cleo')
  const customer = shop.stripe.world.objects.get('customer', String(first?.customer))
  customer.invoice_settings = { default_payment_method: shop.stripe.world.saveCard(customer.id) }
  t.like((await patchRecharge(shop.url, 'cleo', { autoRechargeEnabled: true })).json, {
    autoRechargeDisabledReason: null,
  })
  await shop.until('cleo', ({ credits }) => credits === 1_500_000, 'the new card is charged')
})

test.serial('recharge: a card that requires authentication is a decline', async (t) => {
  const shop = shared
  await enter(t, shop, 'dora', 'asks-owner')
  await patchRecharge(shop.url, 'dora', LOW)
  const isOff = (reason: unknown) => reason === 'authentication_required'
  await shop.until('dora', ({ autoRechargeDisabledReason: reason }) => isOff(reason), 'it is off')
  t.is(asked(shop, 'dora'), 1)
})

test.serial('recharge: a payment that takes days is ended by its webhook', async (t) => {
  const shop = shared
  await enter(t, shop, 'eve', 'slow')
  await patchRecharge(shop.url, 'eve', LOW)
  await eventually(() => recharges(shop, 'eve').length === 1, 'it is asked for')
  await anotherRound(t, shop)
  t.like(await shop.balance('eve'), { credits: 500_000, autoRechargeEnabled: true })
  t.is(asked(shop, 'eve'), 1)
  shop.stripe.world.finishPayment(String(recharges(shop, 'eve')[0]?.id), 'succeeded')
  await shop.deliver(t)
  t.is((await shop.balance('eve')).credits, 1_500_000)
})

test.serial('recharge: an answer that is lost leads to one charge, and the webhook gives the credits', async (t) => {
  const shop = shared
  await enter(t, shop, 'finn')
  // All three tries of the package lose their answer.
  shop.stripe.fail((request) => (isCall(request, 'finn') ? { kind: 'lose-after' } : undefined))
  await patchRecharge(shop.url, 'finn', LOW)
  await eventually(() => asked(shop, 'finn') >= 3, 'it is asked for')
  t.is(recharges(shop, 'finn').length, 1)
  await shop.deliver(t)
  t.is((await shop.balance('finn')).credits, 1_500_000)
  await anotherRound(t, shop)
  t.is((await shop.balance('finn')).credits, 1_500_000)
  t.is(recharges(shop, 'finn').length, 1)
})

test.serial('recharge: a month is bounded', async (t) => {
  const shop = shared
  await enter(t, shop, 'gus')
  await patchRecharge(shop.url, 'gus', { ...LOW, autoRechargeMonthlyLimit: 1_500_000 })
  await shop.until('gus', ({ credits }) => credits === 1_500_000, 'the first is there')
  await patchRecharge(shop.url, 'gus', {
    autoRechargeThreshold: 1_900_000,
    autoRechargeAmount: 2_000_000,
    autoRechargeMonthlyLimit: 2_500_000,
  })
  await anotherRound(t, shop)
  t.is((await shop.balance('gus')).credits, 1_500_000)
  t.is(asked(shop, 'gus'), 1)
})

test.serial('recharge: without a card it is switched off', async (t) => {
  const shop = shared
  await enter(t, shop, 'hal')
  for (const method of shop.stripe.world.objects.all('payment_method')) method.customer = null
  for (const subscription of shop.stripe.world.objects.all('subscription')) subscription.default_payment_method = null
  await patchRecharge(shop.url, 'hal', LOW)
  const isOff = (reason: unknown) => reason === 'no_payment_method'
  await shop.until('hal', ({ autoRechargeDisabledReason: reason }) => isOff(reason), 'it is off')
  t.is(asked(shop, 'hal'), 0)
})

test.serial('recharge: a refund of one takes its credits back', async (t) => {
  const shop = shared
  await enter(t, shop, 'ida')
  await patchRecharge(shop.url, 'ida', LOW)
  await shop.until('ida', ({ credits }) => credits === 1_500_000, 'the credits are there')
  await patchRecharge(shop.url, 'ida', { autoRechargeEnabled: false })
  const [intent] = recharges(shop, 'ida')
  shop.stripe.world.refund(String(intent?.latest_charge), 1000)
  await shop.deliver(t)
  t.is((await shop.balance('ida')).credits, 500_000)
})

/** Brings a claim to the point where its process dies with the call on its way, and ends the lease. */
async function crashInCall(
  t: ExecutionContext,
  databaseUrl: string,
  fault: 'lose-before' | 'lose-after',
): Promise<Shop<GatewayProcess>> {
  const shop = await openShopProcess(t, { databaseUrl, env: FAST })
  await enter(t, shop, 'ann')
  await enter(t, shop, 'marker')
  await patchRecharge(shop.url, 'marker', { ...LOW, autoRechargeThreshold: 0 })
  const { stripe } = shop
  stripe.fail((request) => (isCall(request, 'ann') ? { kind: fault } : undefined))
  await patchRecharge(shop.url, 'ann', LOW)
  await eventually(() => asked(shop, 'ann') > 0, 'the call is on its way')
  process.kill(-(shop.gateways[0]?.pid ?? 0), 'SIGKILL')
  await shop.gateways[0]?.exited
  t.deepEqual(await query(databaseUrl, `select state from recharge where account_id = 'ann'`), [{ state: 'pending' }])
  return shop
}

const creditsOf = async (databaseUrl: string, userId = 'ann') =>
  Number((await query(databaseUrl, `select posted_credits from account where id = '${userId}'`))[0]?.posted_credits)

testWithPostgres('recharge: three gateways claim once', async (t) => {
  const databaseUrl = await createMigratedDatabase()
  const shop = await openShopOf(3, t, { databaseUrl, env: FAST })
  await enter(t, shop, 'ann')
  shop.stripe.fail(({ method, path }) =>
    method === 'POST' && path === '/v1/payment_intents' ? { kind: 'delay', ms: 300 } : undefined,
  )
  await patchRecharge(shop.url, 'ann', LOW)
  await shop.until('ann', ({ credits }) => credits === 1_500_000, 'the credits are there')
  await anotherRound(t, shop)
  t.is(asked(shop, 'ann'), 1)
  t.deepEqual(await query(databaseUrl, `select state from recharge where account_id = 'ann'`), [{ state: 'succeeded' }])
})

for (const fault of sampled(['lose-before', 'lose-after'] as const, 1)) {
  testWithPostgres(
    `recharge: SIGKILL between claim and answer (${fault}) charges once, under the same key`,
    async (t) => {
      const databaseUrl = await createMigratedDatabase()
      const shop = await crashInCall(t, databaseUrl, fault)
      const keys = () =>
        shop.stripe.seen.filter((request) => isCall(request, 'ann')).map(({ idempotencyKey }) => idempotencyKey)
      await shop.another()
      await query(databaseUrl, `update auto_recharge set threshold_credits = 600000 where account_id = 'marker'`)
      await eventually(async () => (await creditsOf(databaseUrl, 'marker')) === 1_500_000, 'a round has passed')
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
    const databaseUrl = await createMigratedDatabase()
    const shop = await crashInCall(t, databaseUrl, 'lose-after')
    shop.stripe.mend()
    shop.stripe.forgetKeys()
    const before = asked(shop, 'ann')
    const DAY_MS = 24 * 3_600_000
    for (const intent of recharges(shop, 'ann')) intent.created = Number(intent.created) - DAY_MS / 1000
    await query(databaseUrl, `update recharge set next_at_ms = 0, created_at_ms = created_at_ms - ${DAY_MS}`)
    await shop.another()
    await eventually(async () => (await creditsOf(databaseUrl)) === 1_500_000, 'the credits are there')
    t.is(asked(shop, 'ann'), before)
    t.is(recharges(shop, 'ann').length, 1)
  },
)
