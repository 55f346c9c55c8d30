import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { engines } from '../stores/sql/places.ts'
import { isDrill } from '../support/drill.ts'
import { startStripe } from '../support/stripe/stand-in.ts'
import type { Purchase, World } from '../support/stripe/world.ts'
import { type Books, CREDITS, type Ledger, openBooks, openLedger } from './books.ts'
import { makeCustomer, openCheckout } from './recorded.ts'
import { stock } from './shop.ts'

/*
 * A subscription lives for some periods; its events are delivered in any order, some twice. Whatever happened, the credits
 * that it received are never more than its money has bought at the list price; and never fewer than the periods that were
 * charged for, less what was returned.
 */

type Tier = 'pro' | 'team'
const CENTS: Readonly<Record<Tier, number>> = { pro: 2000, team: 10_000 }
/** Each line is rounded down to a whole credit, and prorations to a whole cent. */
const ROUNDING = 2000
const ACCOUNT = 'ann'
const RUNS = isDrill ? { sqlite: 200, postgres: 20 } : { sqlite: 15, postgres: 2 }

/** One step in the life of a subscription. */
type Step =
  | { readonly kind: 'renew' }
  | { readonly kind: 'change'; readonly to: Tier; readonly elapsed: number; readonly atOnce: boolean }

const tiers = fc.constantFrom<Tier>('pro', 'team')
const purchases: fc.Arbitrary<Purchase> = fc.oneof(
  fc.constant({}),
  fc.constant({ isTrial: true }),
  fc.record({ coupon: fc.record({ percentOff: fc.constantFrom(10, 50, 100) }) }),
  fc.record({ coupon: fc.record({ centsOff: fc.constantFrom(1, 700, 2000) }) }),
)
const changes = fc.record({
  kind: fc.constant('change' as const),
  to: tiers,
  elapsed: fc.nat(100),
  atOnce: fc.boolean(),
})
const lives = fc.record({
  tier: tiers,
  purchase: purchases,
  steps: fc.array(fc.oneof(fc.constant({ kind: 'renew' as const }), changes), {
    minLength: 3,
    maxLength: 8,
    size: 'max',
  }),
  order: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
})

interface Life {
  readonly world: World
  /** Money, by the plan that it bought, in credits at the list price: what the property holds the books against. */
  readonly boughtCredits: number
  /** The same, of periods in invoices with a positive total. */
  readonly periodCredits: number
  readonly hasReturns: boolean
}

/** Lives a subscription and counts its money by the lines that Stripe has billed. */
function live(world: World, prices: Record<Tier, string>, { tier, purchase, steps }: LifePlan): Life {
  const customer = makeCustomer(world, ACCOUNT)
  const session = openCheckout(world, { user: ACCOUNT, customer, price: prices[tier] })
  const { subscription } = world.completeCheckout(session, purchase)
  let [now, elapsedNow] = [tier, 0]
  for (const step of steps) {
    if (step.kind === 'renew') {
      world.renew(subscription)
      elapsedNow = 0
    } else if (step.to !== now) {
      now = step.to
      elapsedNow = Math.max(elapsedNow, step.elapsed)
      const prorations = step.atOnce ? 'always_invoice' : 'create_prorations'
      world.change(subscription, { price: prices[step.to], elapsed: elapsedNow / 100, prorations })
    }
  }
  const tierOf = (price: string): Tier => (price === prices.team ? 'team' : 'pro')
  const sums = { boughtCredits: 0, periodCredits: 0, hasReturns: false }
  for (const { total, allLines } of world.objects.all('invoice')) {
    for (const line of allLines as Line[]) {
      const bought = tierOf(line.pricing.price_details.price)
      const cents = line.amount - line.discount_amounts.reduce((sum, { amount }) => sum + amount, 0)
      const credits = (cents / CENTS[bought]) * CREDITS[bought]
      sums.boughtCredits += credits
      if (line.parent.subscription_item_details.proration) sums.hasReturns ||= cents < 0
      else if (Number(total) > 0) sums.periodCredits += credits
    }
  }
  return { world, ...sums }
}

interface Line {
  amount: number
  discount_amounts: { amount: number }[]
  pricing: { price_details: { price: string } }
  parent: { subscription_item_details: { proration: boolean } }
}

interface LifePlan {
  tier: Tier
  purchase: Purchase
  steps: Step[]
  order: number[]
}

async function creditsIn({ sql }: Ledger): Promise<number> {
  const [row] = await sql(`select posted_credits from account where id = '${ACCOUNT}'`)
  return Number(row?.posted_credits ?? 0)
}

/** Delivers all events, each once or twice, in an order of its own. */
async function deliverAll(
  { deliver }: Books,
  { world, order }: { world: World; order: readonly number[] },
): Promise<void> {
  const all = [...world.events, ...world.events.slice(0, 5)]
  const ranked = all.map((event, index) => ({ event, rank: order[index % order.length] ?? 0 }))
  for (const { event } of ranked.toSorted((a, b) => a.rank - b.rank)) await deliver(event)
}

for (const engine of engines) {
  engine.test('credits: never more than was paid for, never fewer than was bought', async (t) => {
    const seen = { returns: 0, upgradesOnly: 0 }
    const check = async (plan: LifePlan) => {
      const { ledger, books, world, prices } = await open(t)
      const life = live(world, prices, plan)
      await deliverAll(books, { world, order: plan.order })
      const credits = await creditsIn(ledger)
      t.true(credits <= life.boughtCredits + 1, `${credits} of ${life.boughtCredits}`)
      const owedBack = Math.max(0, life.periodCredits - life.boughtCredits)
      t.true(credits >= life.periodCredits - owedBack - ROUNDING, `${credits} of ${life.periodCredits} − ${owedBack}`)
      if (life.hasReturns) seen.returns++
      else seen.upgradesOnly++
    }
    await fc.assert(fc.asyncProperty(lives, check), { numRuns: RUNS[engine.name], endOnFailure: true })
    t.true(seen.returns > 0, JSON.stringify(seen))
  })

  engine.test('credits: returned money is taken from later credits where the present ones are spent', async (t) => {
    const { ledger, books, world, prices } = await open(t)
    const customer = makeCustomer(world, ACCOUNT)
    const session = openCheckout(world, { user: ACCOUNT, customer, price: prices.team })
    const { subscription } = world.completeCheckout(session)
    let delivered = 0
    const deliver = async () => {
      for (const event of world.events.slice(delivered)) await books.deliver(event)
      delivered = world.events.length
    }
    await deliver()
    const spend = { accountId: ACCOUNT, kind: 'calls', credits: -CREDITS.team, idem: 'spent' } as const
    t.is(await ledger.run('ledger.append', spend), 'appended')
    world.change(subscription, { price: prices.pro, elapsed: 0.5, prorations: 'always_invoice' })
    await deliver()
    t.is(await creditsIn(ledger), 0)
    // Half of Team is returned, half of Pro charged: 750,000 are owed, the first renewal and half the second.
    world.renew(subscription)
    await deliver()
    t.is(await creditsIn(ledger), 0)
    world.renew(subscription)
    await deliver()
    t.is(await creditsIn(ledger), CREDITS.pro / 2)
    world.renew(subscription)
    await deliver()
    t.is(await creditsIn(ledger), 1.5 * CREDITS.pro)
  })

  async function open(t: ExecutionContext) {
    const stripe = await startStripe()
    t.teardown(stripe.close)
    const prices = stock(stripe)
    const ledger = await openLedger(t, engine)
    return { ledger, prices, world: stripe.world, books: openBooks(ledger, { stripe, prices }) }
  }
}
