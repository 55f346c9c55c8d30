import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { engines } from '../stores/sql/places.ts'
import { isDrill } from '../support/drill.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import { type Ledger, openBooks, openLedger } from './books.ts'
import { type Happening, story } from './recorded.ts'
import { stock } from './shop.ts'

/*
 * Any permutation and duplication of a set of webhooks ends in the same state. Once with everything having happened before
 * the first delivery, as after an outage; and once with deliveries between what happens, late, twice and at the same time.
 */
const FEWEST_EVENTS = 60
const RUNS = isDrill ? 10 : 1

/** Returns everything that determines an account's balance, in comparable form. */
async function stateOf({ sql }: Ledger): Promise<unknown> {
  const accounts = await sql(
    'select id, tier, posted_credits, held_credits, period_start_ms, period_end_ms from account order by id',
  )
  const payments = await sql(
    'select id, account_id, credits, due_credits, taken_credits, disputed from billing_payment order by id',
  )
  const subscriptions = await sql(
    'select id, account_id, status, tier, period_end_ms from billing_subscription order by id',
  )
  const recharges = await sql('select id, account_id, credits, state from recharge order by id')
  const customers = await sql('select account_id, customer_id from billing_customer order by account_id')
  const sums = await sql(
    'select account_id, sum(credits) as credits from ledger_entry group by account_id order by account_id',
  )
  const rows = { accounts, payments, subscriptions, recharges, customers, sums }
  // One engine gives sums as text.
  return JSON.parse(JSON.stringify(rows, (_, value) => (/^\d+$/.test(String(value)) ? Number(value) : value)))
}

interface Shop {
  readonly stripe: StripeStandIn
  readonly prices: Readonly<Record<'pro' | 'team', string>>
}

async function openShop(t: ExecutionContext): Promise<Shop & { steps: Happening[] }> {
  const stripe = await startStripe()
  t.teardown(stripe.close)
  const prices = stock(stripe)
  return { stripe, prices, steps: story(stripe, prices) }
}

/** Runs that many at a time, in their order. */
async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

const many = { minLength: 120, maxLength: 120 }
const schedules: fc.Arbitrary<Schedule> = fc.record({
  delays: fc.array(fc.oneof(fc.constant(0), fc.nat(60)), many),
  pauses: fc.array(fc.nat(12), many),
  twice: fc.array(fc.boolean(), many),
  slowness: fc.array(fc.oneof(fc.constant(0), fc.nat(60)), many),
})

for (const engine of engines) {
  engine.test('webhooks: any order and number of a set of 60 ends in the same state', async (t) => {
    const shop = await openShop(t)
    for (const step of shop.steps) step(shop.stripe.world)
    const { events } = shop.stripe.world
    t.true(events.length >= FEWEST_EVENTS, `${events.length} events`)
    const inOrder = openBooks(await openLedger(t, engine), shop)
    for (const event of events) await inOrder.deliver(event)
    const expected = await stateOf(inOrder.ledger)
    assertPlausible(t, expected)
    const orders = fc.record({
      order: fc.shuffledSubarray([...events.keys()], { minLength: events.length }),
      again: fc.array(fc.nat(events.length - 1), { minLength: 5, size: 'max', maxLength: 40 }),
      lanes: fc.integer({ min: 2, max: 6 }),
    })
    const check = async ({ order, again, lanes }: { order: number[]; again: number[]; lanes: number }) => {
      const books = openBooks(await openLedger(t, engine), shop)
      const all = [...order, ...again].flatMap((index) => events[index] ?? [])
      await inLanes(all, lanes, books.deliver)
      t.deepEqual(await stateOf(books.ledger), expected)
    }
    await fc.assert(fc.asyncProperty(orders, check), { numRuns: RUNS, endOnFailure: true })
  })

  engine.test(
    'webhooks: deliveries while things happen, late, twice and answered slowly, end in the same state',
    async (t) => {
      const counts = { late: 0, slow: 0 }
      const check = async ({ delays, pauses, twice, slowness }: Schedule) => {
        const shop = await openShop(t)
        const { world } = shop.stripe
        const books = openBooks(await openLedger(t, engine), shop)
        let asked = 0
        const hurry = shop.stripe.fail(({ method }) => {
          const ms = method === 'GET' ? (slowness[asked++ % slowness.length] ?? 0) : 0
          if (ms > 0) counts.slow++
          return ms > 0 ? { kind: 'delay-answer', ms } : undefined
        })
        const deliveries: Promise<void>[] = []
        let raised = 0
        for (const [index, step] of shop.steps.entries()) {
          step(world)
          for (const event of world.events.slice(raised)) {
            const delay = delays[raised % delays.length] ?? 0
            if (delay > 0) counts.late++
            for (const ms of twice[raised % twice.length] ? [delay, delay >> 1] : [delay])
              deliveries.push(sleep(ms).then(() => books.deliver(event)))
            raised++
          }
          await sleep(pauses[index % pauses.length] ?? 0)
        }
        await Promise.all(deliveries)
        hurry()
        const quiet = openBooks(await openLedger(t, engine), shop)
        for (const event of world.events) await quiet.deliver(event)
        t.deepEqual(await stateOf(books.ledger), await stateOf(quiet.ledger))
      }
      await fc.assert(fc.asyncProperty(schedules, check), {
        numRuns: RUNS,
        endOnFailure: true,
      })
      t.true(counts.late > 20 && counts.slow > 50, JSON.stringify(counts))
    },
  )
}

/** Delivery times of events and delays of Stripe's answers, in milliseconds. */
interface Schedule {
  delays: number[]
  pauses: number[]
  twice: boolean[]
  slowness: number[]
}

/** Asserts that the state shows every part of the history. */
function assertPlausible(t: ExecutionContext, state: unknown): void {
  const { accounts, payments, recharges } = state as Record<string, Record<string, unknown>[]>
  t.deepEqual(
    accounts?.map(({ id, tier, posted_credits }) => [id, tier, posted_credits]),
    [
      ['ann', 'team', 750_000],
      ['bob', 'team', 250_000],
      ['cleo', 'free', 750_000],
      ['dora', 'free', 250_000],
    ],
  )
  t.is(payments?.length, 12)
  t.is(payments?.filter(({ disputed }) => disputed === 1).length, 4)
  t.is(recharges?.filter(({ state }) => state === 'succeeded').length, 4)
}
