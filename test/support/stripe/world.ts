import { addItem, bill, type Coupon, prorate } from './invoicing.ts'
import { type Card, Objects, type StripeObject, textOf } from './objects.ts'
import { Refusal } from './refusal.ts'

/** A delivered event: a snapshot, which may be old when it arrives. */
export interface StripeEvent {
  id: string
  object: 'event'
  type: string
  created: number
  api_version: string
  data: { object: StripeObject }
}

const PERIOD_S = 30 * 24 * 3600
const API_VERSION = '2026-10-28.endive'

/** Terms of a plan's purchase. */
export interface Purchase {
  readonly card?: Card
  readonly coupon?: Coupon
  /** The first period is free. */
  readonly isTrial?: boolean
}

/** Change of a subscription. */
export interface SubscriptionChange {
  readonly status?: string
  readonly price?: string
  /** Part of the period that is over, from 0 to 1; default 0. */
  readonly elapsed?: number
  /** Bill for the difference: with the next invoice (default), at once, or none. */
  readonly prorations?: 'create_prorations' | 'always_invoice' | 'none'
}

/** Events at Stripe: payments, declines, the passing of time. Each step changes objects and raises events. */
export class World {
  readonly objects = new Objects()
  readonly events: StripeEvent[] = []

  nowS(): number {
    return Math.floor(Date.now() / 1000)
  }

  raise(type: string, object: StripeObject): void {
    const id = this.objects.nextId('evt')
    const data = { object: structuredClone(object) }
    const event: StripeEvent = { id, object: 'event', type, created: this.nowS(), api_version: API_VERSION, data }
    this.events.push(event)
  }

  /** Pays on the page of a checkout session. */
  completeCheckout(
    sessionId: string,
    { card = 'good', coupon, isTrial = false }: Purchase = {},
  ): { subscription: string; charge: string } {
    const session = this.objects.get('checkout.session', sessionId)
    const customer = textOf(session, 'customer')
    const method = this.saveCard(customer, card)
    const { line_items: lines, subscription_data: data } = session as unknown as {
      line_items: { price: string }[]
      subscription_data: { metadata: Record<string, string> }
    }
    const start = this.nowS()
    const subscription = this.objects.add({
      id: this.objects.nextId('sub'),
      object: 'subscription',
      customer,
      status: isTrial ? 'trialing' : 'active',
      created: start,
      metadata: data.metadata,
      ...(coupon !== undefined && { coupon }),
      default_payment_method: method,
      items: { object: 'list', data: lines.map(({ price }) => this.#item(price, start)) },
    })
    Object.assign(session, { status: 'complete', payment_status: 'paid', subscription: subscription.id })
    this.raise('checkout.session.completed', session)
    this.raise('customer.subscription.created', subscription)
    const charge = this.#bill(subscription, 'subscription_create')
    this.raise('customer.subscription.updated', subscription)
    return { subscription: subscription.id, charge }
  }

  /** Saves a new card, as customers do on Stripe's pages. */
  saveCard(customer: string, card: Card = 'good'): string {
    const id = this.objects.nextId('pm')
    this.objects.add({ id, object: 'payment_method', type: 'card', customer, card: { behaves: card } })
    return id
  }

  /** Ends the period and pays the next. Returns the charge. */
  renew(subscriptionId: string): string {
    const subscription = this.objects.get('subscription', subscriptionId)
    for (const item of itemsOf(subscription)) {
      item.current_period_start = item.current_period_end
      item.current_period_end = Number(item.current_period_end) + PERIOD_S
    }
    if (subscription.status === 'trialing') subscription.status = 'active'
    this.raise('customer.subscription.updated', subscription)
    return this.#bill(subscription, 'subscription_cycle')
  }

  /** Sets a subscription's status, or its price. With prorations, an end returns money for the rest of the period. */
  change(
    subscriptionId: string,
    { status, price, elapsed = 0, prorations = price === undefined ? 'none' : 'create_prorations' }: SubscriptionChange,
  ): void {
    const subscription = this.objects.get('subscription', subscriptionId)
    const [item] = itemsOf(subscription)
    const to = price === undefined ? undefined : this.objects.get('price', price)
    if (item !== undefined && prorations !== 'none' && subscription.status !== 'trialing')
      prorate(this, { subscription, item, to, elapsed })
    if (status !== undefined) subscription.status = status
    if (to !== undefined && item !== undefined) item.price = to
    this.raise(status === 'canceled' ? 'customer.subscription.deleted' : 'customer.subscription.updated', subscription)
    if (prorations === 'always_invoice') bill(this, subscription, { reason: 'subscription_update', items: [] })
  }

  /** Adds an item to the customer's next invoice, as an operator does. */
  addInvoiceItem(customer: string, cents: number): void {
    addItem(this, { customer, cents })
  }

  refund(chargeId: string, amount: number): void {
    const charge = this.objects.get('charge', chargeId)
    charge.amount_refunded = Number(charge.amount_refunded) + amount
    charge.refunded = charge.amount_refunded === charge.amount
    this.raise('charge.refunded', charge)
  }

  dispute(chargeId: string, amount: number): string {
    const charge = this.objects.get('charge', chargeId)
    charge.disputed = true
    const id = this.objects.nextId('dp')
    const dispute = { id, object: 'dispute', charge: chargeId, amount, status: 'needs_response', created: this.nowS() }
    this.raise('charge.dispute.created', this.objects.add(dispute))
    return id
  }

  closeDispute(disputeId: string, status: 'won' | 'lost'): void {
    const dispute = this.objects.get('dispute', disputeId)
    dispute.status = status
    this.raise('charge.dispute.closed', dispute)
  }

  deleteCustomer(id: string): void {
    const customer = this.objects.get('customer', id)
    for (const subscription of this.objects.all('subscription')) {
      if (subscription.customer === id && subscription.status !== 'canceled')
        this.change(subscription.id, { status: 'canceled' })
    }
    customer.deleted = true
    this.raise('customer.deleted', customer)
  }

  /** Ends a payment that was being processed. */
  finishPayment(intentId: string, status: 'succeeded' | 'requires_payment_method'): void {
    const intent = this.objects.get('payment_intent', intentId)
    if (status === 'succeeded') return void this.succeed(intent)
    intent.status = status
    intent.last_payment_error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }
    this.raise('payment_intent.payment_failed', intent)
  }

  /** Charges a card. Throws `Refusal` when it is declined. */
  pay(intent: StripeObject): StripeObject {
    const method = this.objects.get('payment_method', textOf(intent, 'payment_method'))
    const { behaves } = method.card as { behaves: Card }
    this.objects.add(intent)
    if (behaves === 'good') return this.succeed(intent)
    if (behaves === 'slow') return Object.assign(intent, { status: 'processing' })
    const error =
      behaves === 'declined'
        ? { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }
        : { type: 'card_error', code: 'authentication_required', decline_code: 'authentication_required' }
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error })
    this.raise('payment_intent.payment_failed', intent)
    throw new Refusal(402, 'Your card was declined.', { ...error, payment_intent: structuredClone(intent) })
  }

  /** Completes a payment. */
  succeed(intent: StripeObject): StripeObject {
    const charge = this.objects.add({
      id: this.objects.nextId('ch'),
      object: 'charge',
      amount: intent.amount,
      amount_refunded: 0,
      refunded: false,
      disputed: false,
      customer: intent.customer,
      payment_intent: intent.id,
      created: this.nowS(),
    })
    Object.assign(intent, { status: 'succeeded', latest_charge: charge.id })
    this.raise('payment_intent.succeeded', intent)
    return intent
  }

  #item(price: string, start: number): StripeObject {
    return {
      id: this.objects.nextId('si'),
      object: 'subscription_item',
      price: this.objects.get('price', price),
      current_period_start: start,
      current_period_end: start + PERIOD_S,
    }
  }

  /** Bills all items for the period that begins; returns the charge's id, empty when nothing was due. */
  #bill(subscription: StripeObject, reason: string): string {
    const { charge } = bill(this, subscription, { reason, items: itemsOf(subscription) })
    return charge?.id ?? ''
  }
}

function itemsOf(subscription: StripeObject): StripeObject[] {
  return (subscription.items as { data: StripeObject[] }).data
}
