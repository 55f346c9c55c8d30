import { randomUUID } from 'node:crypto'
import type { StripeStandIn } from '../support/stripe/stand-in.ts'
import type { World } from '../support/stripe/world.ts'

const USERS = ['ann', 'bob', 'cleo', 'dora'] as const

/** Something that happens at Stripe, which raises events. */
export type Happening = (world: World) => void

/**
 * A history of four accounts over some months: plans bought, renewed, changed, unpaid and cancelled, recharges that
 * succeed and fail, refunds in parts and in full, disputes won and lost, a customer deleted. Each step is one or more
 * events; all together raise 60 or more.
 */
export function story({ world }: StripeStandIn, prices: Readonly<Record<'pro' | 'team', string>>): Happening[] {
  const steps: Happening[] = []
  const customers = new Map(USERS.map((user) => [user, makeCustomer(world, user)]))
  for (const [index, user] of USERS.entries()) {
    const customer = customers.get(user) ?? ''
    const bought = { subscription: '', charge: '' }
    let renewal = ''
    let recharge = ''
    let dispute = ''
    steps.push(
      () => Object.assign(bought, world.completeCheckout(openCheckout(world, { user, customer, price: prices.pro }))),
      () => {
        recharge = chargeRecharge(world, { user, customer }) ?? ''
      },
      () => {
        renewal = world.renew(bought.subscription)
      },
      () => world.refund(bought.charge, 300),
      () => world.change(bought.subscription, { status: 'past_due' }),
      () => world.change(bought.subscription, { status: 'active', price: prices.team }),
      () => {
        dispute = world.dispute(renewal, 2000)
      },
      () => void chargeRecharge(world, { user, customer }, 'declined'),
      () => world.refund(bought.charge, 700),
      () => world.closeDispute(dispute, index % 2 === 0 ? 'won' : 'lost'),
      () => world.refund(recharge, 1000),
    )
    if (user === 'cleo') steps.push(() => world.change(bought.subscription, { status: 'canceled' }))
    if (user === 'dora') steps.push(() => world.deleteCustomer(customer))
  }
  return steps
}

/** Creates a customer of an account. */
export function makeCustomer(world: World, user: string): string {
  const id = world.objects.nextId('cus')
  const members = { metadata: { user_id: user }, created: world.nowS(), invoice_settings: {} }
  return world.objects.add({ id, object: 'customer', ...members }).id
}

interface Purchase {
  readonly user: string
  readonly customer: string
  readonly price: string
}

/** Opens a checkout as the gateway does. */
export function openCheckout(world: World, { user, customer, price }: Purchase): string {
  const metadata = { user_id: user, tier: 'pro' }
  const members = { customer, metadata, line_items: [{ price }], subscription_data: { metadata } }
  return world.objects.add({ id: world.objects.nextId('cs'), object: 'checkout.session', ...members }).id
}

/** Creates a recharge as the gateway does; resolves with its charge, if there is one. */
function chargeRecharge(
  world: World,
  { user, customer }: Omit<Purchase, 'price'>,
  card: 'good' | 'declined' = 'good',
): string | undefined {
  const metadata = { recharge_id: randomUUID(), user_id: user, credits: '1000000' }
  const id = world.objects.nextId('pi')
  const payment_method = world.saveCard(customer, card)
  const intent = {
    id,
    object: 'payment_intent',
    amount: 1000,
    customer,
    metadata,
    payment_method,
    created: world.nowS(),
  }
  try {
    return String(world.pay(intent).latest_charge)
  } catch {
    return undefined
  }
}
