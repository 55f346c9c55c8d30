import test, { type ExecutionContext } from 'ava'
import type { Purchase } from '../support/stripe/world.ts'
import { openShop, type Shop } from './shop.ts'

const PRO_CREDITS = 500_000
const TEAM_CREDITS = 2_000_000
const TRIAL_CREDITS = 7000

const endings: (() => unknown)[] = []
let shop: Shop

test.before(async () => {
  const owner = { teardown: (end: () => unknown) => void endings.push(end) }
  shop = await openShop(owner, {
    env: { STRIPE_PRICE_OVERAGE: 'price_metered' },
    config: { credits_trial: TRIAL_CREDITS },
  })
  const { world } = shop.stripe
  world.objects.add({
    ...world.objects.get('price', shop.prices.overage),
    id: 'price_metered',
  })
})
test.after.always(async () => {
  for (const end of endings.reverse()) await end()
})

async function creditsOf(t: ExecutionContext, user: string): Promise<number> {
  await shop.deliver(t)
  return Number((await shop.balance(user)).credits)
}

async function subscribe(user: string, tier: 'pro' | 'team', purchase?: Purchase) {
  const bought = await shop.buy(user, tier, purchase)
  const { world } = shop.stripe
  return {
    ...bought,
    to: (price: 'pro' | 'team', elapsed: number, prorations?: 'always_invoice') =>
      world.change(bought.subscription, {
        price: shop.prices[price],
        elapsed,
        ...(prorations !== undefined && { prorations }),
      }),
    renew: () => world.renew(bought.subscription),
  }
}

test.serial('credits: Pro → Team gives the larger credits with the invoice that charges for them', async (t) => {
  const plan = await subscribe('ann', 'pro')
  plan.to('team', 0.95)
  t.is(await creditsOf(t, 'ann'), PRO_CREDITS)
  plan.renew()
  t.is(await creditsOf(t, 'ann'), PRO_CREDITS + TEAM_CREDITS)
})

test.serial('credits: Pro → Team → Pro in one period gives those of Pro', async (t) => {
  for (const [user, prorations] of [
    ['bob', undefined],
    ['bea', 'always_invoice'],
  ] as const) {
    const plan = await subscribe(user, 'pro')
    plan.to('team', 0.5, prorations)
    plan.to('pro', 0.5, prorations)
    t.is(await creditsOf(t, user), PRO_CREDITS)
    plan.renew()
    t.is(await creditsOf(t, user), 2 * PRO_CREDITS)
  }
})

test.serial('credits: a downgrade that returns money takes back what it was paid for', async (t) => {
  for (const prorations of ['always_invoice', undefined] as const) {
    const user = `cleo-${prorations}`
    const plan = await subscribe(user, 'team')
    t.is(await creditsOf(t, user), TEAM_CREDITS)
    plan.to('pro', 0.25, prorations)
    plan.renew()
    // Three quarters of Team are returned, three quarters of Pro are charged, and a period of Pro begins.
    const returned = 0.75 * TEAM_CREDITS - 0.75 * PRO_CREDITS
    t.is(await creditsOf(t, user), TEAM_CREDITS - returned + PRO_CREDITS)
  }
})

test.serial('credits: an end that returns money takes back what it was paid for', async (t) => {
  const plan = await subscribe('dora', 'pro')
  shop.stripe.world.change(plan.subscription, { status: 'canceled', elapsed: 0.4, prorations: 'always_invoice' })
  t.is(await creditsOf(t, 'dora'), 0.4 * PRO_CREDITS)
})

test.serial(
  'credits: an invoice that returned prorations make negative gives its period, which they pay for',
  async (t) => {
    const spent = await subscribe('una', 'team')
    spent.to('pro', 0.18, 'always_invoice')
    spent.to('team', 0.74, 'always_invoice')
    spent.to('pro', 0.74)
    spent.renew()
    const bought = 0.18 * TEAM_CREDITS + (0.82 - 0.26) * PRO_CREDITS + 0.26 * PRO_CREDITS + PRO_CREDITS
    const credits = await creditsOf(t, 'una')
    t.true(Math.abs(credits - bought) < 1000, `${credits} of ${bought}`)
  },
)

test.serial('credits: an invoice of a negative total changes nothing but the returned share', async (t) => {
  const plan = await subscribe('eve', 'team')
  plan.to('pro', 0)
  const before = await creditsOf(t, 'eve')
  t.is(plan.renew(), '', 'nothing was charged')
  t.is(await creditsOf(t, 'eve'), before - TEAM_CREDITS + 2 * PRO_CREDITS)
})

test.serial('credits: an invoice of a zero total gives nothing, whatever its lines are', async (t) => {
  const plan = await subscribe('finn', 'pro')
  shop.stripe.world.addInvoiceItem(plan.customer, -2000)
  t.is(plan.renew(), '')
  t.is(await creditsOf(t, 'finn'), PRO_CREDITS)
})

test.serial('credits: a full coupon gives nothing, a partial one its share', async (t) => {
  await subscribe('gus', 'pro', { coupon: { percentOff: 100 } })
  t.is(await creditsOf(t, 'gus'), 0)
  t.is((await shop.balance('gus')).tier, 'pro')
  await subscribe('hal', 'team', { coupon: { percentOff: 30 } })
  t.is(await creditsOf(t, 'hal'), 0.7 * TEAM_CREDITS)
  await subscribe('ida', 'pro', { coupon: { centsOff: 500 } })
  t.is(await creditsOf(t, 'ida'), 0.75 * PRO_CREDITS)
})

test.serial('credits: a trial gives what is configured, once, and the first paid period all', async (t) => {
  const plan = await subscribe('jo', 'pro', { isTrial: true })
  t.is(await creditsOf(t, 'jo'), TRIAL_CREDITS)
  shop.stripe.world.change(plan.subscription, { status: 'canceled' })
  await shop.deliver(t)
  const again = await subscribe('jo', 'team', { isTrial: true })
  t.is(await creditsOf(t, 'jo'), TRIAL_CREDITS)
  again.renew()
  t.is(await creditsOf(t, 'jo'), TRIAL_CREDITS + TEAM_CREDITS)
})

test.serial('credits: the plan’s line counts on whichever page of 250 it is', async (t) => {
  const plan = await subscribe('kim', 'team')
  for (let count = 0; count < 249; count++) shop.stripe.world.addInvoiceItem(plan.customer, 10)
  plan.renew()
  t.is(await creditsOf(t, 'kim'), 2 * TEAM_CREDITS)
  // An event that is sent again asks for them again.
  const asked = shop.stripe.seen.filter(({ path }) => /\/invoices\/[^/]+\/lines$/.test(path))
  t.is(new Set(asked.map(({ form }) => form.starting_after)).size, 3)
})

test.serial('refund: of an invoice that a balance has paid in part takes only its share of the whole', async (t) => {
  const plan = await subscribe('max', 'team')
  shop.stripe.world.objects.get('customer', plan.customer).balance = -5000
  const charge = plan.renew()
  t.is(await creditsOf(t, 'max'), 2 * TEAM_CREDITS)
  shop.stripe.world.refund(charge, 5000)
  t.is(await creditsOf(t, 'max'), 1.5 * TEAM_CREDITS)
})
