import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import { openShopOf } from './shop.ts'

const testWithPostgres = isPostgresExpected ? test : test.skip

testWithPostgres('reconcile: makes good for webhooks that never came, by itself and by command', async (t) => {
  const databaseUrl = await createMigratedDatabase()
  // Nothing is done by itself before all has happened.
  const shop = await openShopOf(1, t, { databaseUrl, env: { SVC_RECHARGE_INTERVAL: '10m' } })
  const { world } = shop.stripe
  const { subscription, customer } = await shop.buy('ann')
  const metadata = { recharge_id: 'r1', user_id: 'ann', credits: '1000000' }
  const payment_method = world.saveCard(customer)
  const intent = { object: 'payment_intent', amount: 1000, customer, metadata, payment_method, created: world.nowS() }
  world.pay({ ...intent, id: 'pi_lost' })
  const gateways = await Promise.all([1, 2].map(() => shop.another({ SVC_RECHARGE_INTERVAL: '100ms' })))
  await shop.until('ann', ({ tier, credits }) => tier === 'pro' && credits === 1_500_000, 'the daily round has run')
  await eventually(() => gateways.some(({ log }) => /billing\.reconciled/.test(log())), 'it is logged')
  const rounds = gateways.map(({ log }) => log().split('billing.reconciled').length - 1)
  t.deepEqual(rounds.toSorted(), [0, 1], 'one of two gateways')

  world.change(subscription, { status: 'canceled' })
  const env = {
    DATABASE_URL: databaseUrl,
    STRIPE_SECRET_KEY: shop.stripe.key,
    STRIPE_API_BASE: shop.stripe.url,
    STRIPE_PRICE_PRO: shop.prices.pro,
  }
  const result = await runCommandInThread(['stripe', 'reconcile'], { env })
  t.is(result.code, 0, result.stderr)
  t.is(result.stdout, 'Checked 1 subscriptions, 1 paid invoices and 2 payments.\n')
  t.is((await shop.balance('ann')).tier, 'free')
  t.is((await shop.balance('ann')).credits, 1_500_000)
  const entries = await query(databaseUrl, 'select action from audit_entry order by at_ms')
  t.deepEqual(entries, [{ action: 'account.tier-changed' }, { action: 'account.tier-changed' }])
})
