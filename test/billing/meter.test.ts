import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { valueAt } from '../support/json.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import { openShopOf, type Shop } from './shop.ts'

const HOUR_MS = 3_600_000
const DAY_S = 24 * 3600
const testWithPostgres = isPostgresExpected ? test : test.skip

interface Metered extends Shop {
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Calls of ann in an hour that ended so many hours ago. */
  count(calls: number, hoursAgo: number): Promise<number>
  /** Returns the meter's entries, by identifier. */
  counted(): Record<string, string>
  /** Resolves once nothing is left to send. */
  sent(): Promise<void>
}

const endings: (() => unknown)[] = []
test.after.always(async () => {
  for (const end of endings.reverse()) await end()
})

async function openMetered(t: ExecutionContext): Promise<Metered> {
  const databaseUrl = await createMigratedDatabase()
  const shop = await openShopOf(2, t, {
    databaseUrl,
    env: { SVC_METER_INTERVAL: '100ms', STRIPE_PRICE_OVERAGE: 'price_overage' },
  })
  const { world } = shop.stripe
  const amounts = { currency: 'usd', unit_amount: 0, unit_amount_decimal: '0' }
  const recurring = { interval: 'month', usage_type: 'metered' }
  world.objects.add({ id: 'price_overage', object: 'price', product: 'prod_1', ...amounts, recurring, metadata: {} })
  world.objects.add({ id: 'mtr_1', object: 'billing.meter', event_name: 'turnpike_overage_calls', status: 'active' })
  await shop.buy('ann')
  await shop.deliver(t)
  const sql = (text: string) => query(databaseUrl, text)
  return {
    ...shop,
    sql,
    async count(calls, hoursAgo) {
      const hourMs = Math.floor(Date.now() / HOUR_MS - hoursAgo) * HOUR_MS
      await sql(
        `insert into overage_hour (account_id, hour_ms, calls, charged_credits, shortfall_credits) values ('ann', ${hourMs}, ${calls}, 0, 0)
         on conflict (account_id, hour_ms) do update set calls = excluded.calls`,
      )
      return hourMs
    },
    counted: () =>
      Object.fromEntries(
        world.objects.all('billing.meter_event').map((event) => [event.identifier, valueAt(event, 'payload.value')]),
      ),
    sent: () =>
      eventually(async () => {
        const [row] = await sql(
          `select (select coalesce(sum(calls), 0) from overage_hour) - (select coalesce(sum(calls), 0) from meter_report where state != 'pending') as left`,
        )
        return Number(row?.left) === 0
      }, 'all is reported'),
  }
}

testWithPostgres('meter: hours that have ended are reported once, by two processes', async (t) => {
  const { count, counted, sent, sql, stripe } = await openMetered(t)
  const hours = [await count(17, 2), await count(3, 3), await count(5, 30)]
  const running = await count(9, 0)
  await eventually(() => Object.keys(counted()).length === 3, 'three hours are counted')
  t.deepEqual(counted(), {
    [`ov:ann:${(hours[0] ?? 0) / HOUR_MS}`]: '17',
    [`ov:ann:${(hours[1] ?? 0) / HOUR_MS}`]: '3',
    [`ov:ann:${(hours[2] ?? 0) / HOUR_MS}`]: '5',
  })
  await sql(`delete from overage_hour where hour_ms = ${running}`)
  await sent()
  // Calls that were counted for an hour that had been reported.
  await count(20, 2)
  await sent()
  t.is(counted()[`ov:ann:${(hours[0] ?? 0) / HOUR_MS}:2`], '3')
  const [event] = stripe.world.objects.all('billing.meter_event')
  t.is(valueAt(event, 'payload.stripe_customer_id'), stripe.world.objects.all('customer')[0]?.id)
})

testWithPostgres('meter: an answer that is lost counts once, a Stripe that is down is asked again', async (t) => {
  const { count, counted, sent, sql, stripe } = await openMetered(t)
  const lose = (kind: 'lose-after' | 'lose-before') =>
    stripe.fail(({ path }) => (path.endsWith('/meter_events') ? { kind } : undefined))
  const mend = lose('lose-before')
  await count(7, 2)
  await eventually(
    async () => Number((await sql('select max(attempts) as n from meter_report'))[0]?.n) > 0,
    'it is tried',
  )
  t.deepEqual(counted(), {})
  mend()
  const mendAgain = lose('lose-after')
  await sql('update meter_report set next_at_ms = 0')
  await eventually(() => Object.keys(counted()).length === 1, 'it is counted')
  mendAgain()
  stripe.forgetKeys()
  await sql('update meter_report set next_at_ms = 0')
  await sent()
  t.deepEqual(Object.values(counted()), ['7'])
})

testWithPostgres('meter: after a day a report is compared with the meter before it is sent again', async (t) => {
  const { count, counted, sent, sql, stripe, gateways } = await openMetered(t)
  const mend = stripe.fail(({ path }) => (path.endsWith('/meter_events') ? { kind: 'lose-after' } : undefined))
  await count(7, 30)
  await eventually(() => gateways.some(({ log }) => /meter\.failed/.test(log())), 'all tries have failed')
  t.is(Object.keys(counted()).length, 1)
  mend()
  // Stripe forgets the identifier, and the key.
  stripe.forgetKeys()
  for (const event of stripe.world.objects.all('billing.meter_event')) event.identifier = 'forgotten'
  await sql(`update meter_report set next_at_ms = 0, tried_at_ms = tried_at_ms - ${DAY_S * 1000}`)
  await sent()
  t.deepEqual(counted(), { forgotten: '7' })
  t.true(stripe.seen.some(({ path }) => path.endsWith('/event_summaries')))
})
