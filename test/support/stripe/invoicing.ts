import type { StripeObject } from './objects.ts'
import type { World } from './world.ts'

/*
 * DESIGN. Stripe's billing of a subscription. A change of price within a period leaves two pending items, the unused time
 * of the old price (negative) and the remaining time of the new one; the next invoice carries them before the lines of its
 * items, newest first. Discounts apply to lines that are no prorations; prorations are of discounted prices. A negative
 * total becomes the customer's balance, which later invoices use up. An invoice carries its first ten lines, the rest is
 * listed in pages.
 */

const FIRST_LINES = 10
const CURRENCY = 'usd'

/** A coupon: a part of the price in percent, or cents. */
export interface Coupon {
  readonly percentOff?: number
  readonly centsOff?: number
}

/** Returns all lines of an invoice. */
export const linesOf = (invoice: StripeObject): StripeObject[] => invoice.allLines as StripeObject[]

/** Returns an invoice as the API answers it: with the first of its lines. */
export function toAnswered({ allLines, ...invoice }: StripeObject): StripeObject {
  const all = allLines as StripeObject[]
  const data = all.slice(0, FIRST_LINES)
  const lines = { object: 'list', data, has_more: all.length > data.length, url: `/v1/invoices/${invoice.id}/lines` }
  return { ...invoice, lines }
}

/** A change of an item's price when a part of its period, from 0 to 1, is over. */
export interface PriceChange {
  readonly subscription: StripeObject
  readonly item: StripeObject
  /** `undefined`: the subscription ends. */
  readonly to: StripeObject | undefined
  readonly elapsed: number
}

/** Adds the pending items of a change, for the next invoice of the customer. */
export function prorate(world: World, { subscription, item, to, elapsed }: PriceChange): void {
  const cents = (price: StripeObject) => {
    const unit = Number(price.unit_amount)
    return Math.round((unit - discountOn(unit, subscription)) * (1 - elapsed))
  }
  const from = item.price as StripeObject
  const add = (price: StripeObject, amount: number, description: string) =>
    world.objects.add({
      ...lineOf(world, { price, amount, description, quantity: 1 }),
      object: 'invoiceitem',
      customer: subscription.customer,
      discountable: false,
      parent: parentOf({ subscription, item, proration: true, isEnd: to === undefined }),
    })
  // Listed newest first, the unused time precedes the remaining time.
  if (to !== undefined) add(to, cents(to), `Remaining time on ${to.id}`)
  add(from, -cents(from), `Unused time on ${from.id}`)
}

/** Adds an item by hand, for the next invoice of the customer. */
export function addItem(world: World, { customer, cents }: { customer: string; cents: number }): void {
  const price = { id: world.objects.nextId('price'), object: 'price', unit_amount: cents }
  const line = lineOf(world, { price, amount: cents, description: 'By hand', quantity: 1 })
  world.objects.add({ ...line, object: 'invoiceitem', customer, pricing: null, discountable: false })
}

/** Creates the invoice of a subscription and pays it. `items`: those whose period begins. Returns it with its charge. */
export function bill(
  world: World,
  subscription: StripeObject,
  { reason, items }: { reason: string; items: readonly StripeObject[] },
): { invoice: StripeObject; charge: StripeObject | undefined } {
  const pending = world.objects.all('invoiceitem').filter((each) => each.customer === subscription.customer)
  const used = pending.filter(({ invoice }) => invoice === undefined)
  const id = world.objects.nextId('in')
  for (const item of used) item.invoice = id
  const periods = items.map((item) => periodLine(world, subscription, item)).reverse()
  const allLines = [...used, ...periods].map((line): StripeObject => ({ ...line, object: 'line_item', invoice: id }))
  const subtotal = sum(allLines.map(({ amount }) => Number(amount)))
  const off = sum(
    allLines.flatMap((line) => (line.discount_amounts as { amount: number }[]).map(({ amount }) => amount)),
  )
  const total = subtotal - off
  const charge = settle(world, { subscription, total, invoiceId: id })
  const invoice = world.objects.add({
    id,
    object: 'invoice',
    status: 'paid',
    billing_reason: reason,
    currency: CURRENCY,
    customer: subscription.customer,
    created: world.nowS(),
    subtotal,
    total,
    total_excluding_tax: total,
    amount_due: Number(charge?.amount ?? 0),
    amount_paid: Number(charge?.amount ?? 0),
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: subscription.id, metadata: subscription.metadata },
    },
    allLines,
  })
  world.raise('invoice.paid', toAnswered(invoice))
  return { invoice, charge }
}

/** Pays from the customer's balance first; returned money becomes balance. */
function settle(
  world: World,
  { subscription, total, invoiceId }: { subscription: StripeObject; total: number; invoiceId: string },
): StripeObject | undefined {
  const customer = world.objects.get('customer', String(subscription.customer))
  // Negative: credit of the customer.
  const owed = total + Number(customer.balance ?? 0)
  customer.balance = Math.min(0, owed)
  if (owed <= 0) return undefined
  const intent = world.succeed(
    world.objects.add({
      id: world.objects.nextId('pi'),
      object: 'payment_intent',
      amount: owed,
      customer: customer.id,
      metadata: {},
      created: world.nowS(),
    }),
  )
  world.objects.add({
    id: world.objects.nextId('inpay'),
    object: 'invoice_payment',
    invoice: invoiceId,
    payment: { type: 'payment_intent', payment_intent: intent.id },
    status: 'paid',
  })
  return world.objects.get('charge', String(intent.latest_charge))
}

function periodLine(world: World, subscription: StripeObject, item: StripeObject): StripeObject {
  const price = item.price as StripeObject
  const isMetered = (price.recurring as { usage_type: string }).usage_type === 'metered'
  const isTrial = subscription.status === 'trialing'
  const amount = isMetered || isTrial ? 0 : Number(price.unit_amount)
  const description = isTrial ? `Free trial of ${price.id}` : `1 × ${price.id}`
  const off = discountOn(amount, subscription)
  return {
    ...lineOf(world, { price, amount, description, quantity: isMetered ? 0 : 1 }),
    discountable: true,
    discount_amounts: subscription.coupon === undefined ? [] : [{ amount: off, discount: `di_${subscription.id}` }],
    parent: parentOf({ subscription, item, proration: false, isEnd: false }),
  }
}

interface LineParts {
  readonly price: StripeObject
  readonly amount: number
  readonly description: string
  readonly quantity: number
}

function lineOf(world: World, { price, amount, description, quantity }: LineParts): StripeObject {
  return {
    id: world.objects.nextId('il'),
    object: 'line_item',
    amount,
    subtotal: amount,
    currency: CURRENCY,
    description,
    quantity,
    discount_amounts: [],
    discounts: [],
    pretax_credit_amounts: [],
    taxes: [],
    parent: null,
    pricing: {
      type: 'price_details',
      price_details: { price: price.id, product: price.product },
      unit_amount_decimal: String(amount),
    },
  }
}

/** Returns the parent of a proration: that of an end is an item of its own, that of a change belongs to the subscription. */
function parentOf(of: { subscription: StripeObject; item: StripeObject; proration: boolean; isEnd: boolean }): unknown {
  const common = { invoice_item: of.proration ? 'ii_1' : null, proration: of.proration, proration_details: null }
  const details = { ...common, subscription: of.subscription.id }
  if (of.isEnd) return { type: 'invoice_item_details', invoice_item_details: details, subscription_item_details: null }
  const subscription_item_details = { ...details, subscription_item: of.item.id }
  return { type: 'subscription_item_details', invoice_item_details: null, subscription_item_details }
}

function discountOn(cents: number, { coupon }: StripeObject): number {
  const { percentOff = 0, centsOff = 0 } = (coupon ?? {}) as Coupon
  return Math.min(cents, Math.round((cents * percentOff) / 100) + centsOff)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
