import type { Form } from './form.ts'
import { linesOf, toAnswered } from './invoicing.ts'
import { type StripeObject, toPage } from './objects.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

type Route = readonly [method: string, pattern: RegExp, answer: (world: World, form: Form, id: string) => unknown]

const ENDED = new Set(['canceled', 'incomplete_expired'])

const routes: readonly Route[] = [
  ['POST', /^\/v1\/customers$/, (world, form) => make(world, 'cus', 'customer', { ...form, ...NO_DEFAULT })],
  ['GET', /^\/v1\/customers\/([^/]+)$/, (world, _, id) => world.objects.get('customer', id)],
  [
    'GET',
    /^\/v1\/customers\/([^/]+)\/payment_methods$/,
    (world, form, id) => list(world, 'payment_method', form, ({ customer }) => customer === id),
  ],
  [
    'POST',
    /^\/v1\/checkout\/sessions$/,
    (world, form) => {
      assertCustomer(world, form)
      for (const { price } of form.line_items as { price: string }[]) world.objects.get('price', price)
      const made = make(world, 'cs_test', 'checkout.session', { ...form, status: 'open', payment_status: 'unpaid' })
      return Object.assign(made, { url: `https://checkout.stripe.test/c/pay/${made.id}` })
    },
  ],
  [
    'POST',
    /^\/v1\/billing_portal\/sessions$/,
    (world, form) => {
      assertCustomer(world, form)
      const made = make(world, 'bps', 'billing_portal.session', form)
      return Object.assign(made, { url: `https://billing.stripe.test/p/session/${made.id}` })
    },
  ],
  [
    'GET',
    /^\/v1\/subscriptions$/,
    (world, form) => {
      const isAsked = ({ customer, status }: StripeObject) =>
        (form.customer === undefined || customer === form.customer) &&
        (form.status === 'all' || !ENDED.has(String(status)))
      return list(world, 'subscription', form, isAsked)
    },
  ],
  ['GET', /^\/v1\/subscriptions\/([^/]+)$/, (world, _, id) => world.objects.get('subscription', id)],
  [
    'GET',
    /^\/v1\/invoices$/,
    (world, form) => {
      const isAsked = (each: StripeObject) => isRecent(each, form) && [undefined, each.status].includes(form.status)
      return toPage(world.objects.all('invoice').filter(isAsked).map(toAnswered), form)
    },
  ],
  ['GET', /^\/v1\/invoices\/([^/]+)$/, (world, _, id) => toAnswered(world.objects.get('invoice', id))],
  [
    'GET',
    /^\/v1\/invoices\/([^/]+)\/lines$/,
    (world, form, id) => toPage(linesOf(world.objects.get('invoice', id)), form),
  ],
  ['GET', /^\/v1\/prices\/([^/]+)$/, (world, _, id) => world.objects.get('price', id)],
  [
    'GET',
    /^\/v1\/invoice_payments$/,
    (world, form) => {
      const { payment_intent: asked } = form.payment as { payment_intent: string }
      const isOf = ({ payment }: StripeObject) => (payment as { payment_intent: string }).payment_intent === asked
      return list(world, 'invoice_payment', form, isOf)
    },
  ],
  [
    'POST',
    /^\/v1\/payment_intents$/,
    (world, form) => {
      assertCustomer(world, form)
      const { amount, customer, metadata, payment_method } = form
      const method = world.objects.get('payment_method', String(payment_method))
      if (method.customer !== customer) throw new Refusal(400, 'The payment method is another customer’s.')
      const id = world.objects.nextId('pi')
      const created = world.nowS()
      return world.pay({
        id,
        object: 'payment_intent',
        amount: Number(amount),
        customer,
        metadata,
        payment_method,
        created,
      })
    },
  ],
  [
    'GET',
    /^\/v1\/payment_intents$/,
    (world, form) =>
      list(
        world,
        'payment_intent',
        form,
        (each) => isRecent(each, form) && [undefined, each.customer].includes(form.customer as string),
      ),
  ],
  ['GET', /^\/v1\/payment_intents\/([^/]+)$/, (world, _, id) => world.objects.get('payment_intent', id)],
  ['GET', /^\/v1\/charges\/([^/]+)$/, (world, _, id) => world.objects.get('charge', id)],
  [
    'GET',
    /^\/v1\/disputes$/,
    (world, form) => list(world, 'dispute', form, ({ charge }) => [undefined, charge].includes(form.charge)),
  ],
  ['POST', /^\/v1\/billing\/meter_events$/, countMeterEvent],
  ['GET', /^\/v1\/billing\/meters$/, (world, form) => list(world, 'billing.meter', form)],
  [
    'POST',
    /^\/v1\/billing\/meters$/,
    (world, form) => {
      const isTaken = world.objects.all('billing.meter').some(({ event_name }) => event_name === form.event_name)
      if (isTaken) throw new Refusal(400, `There is a meter for ${form.event_name} already.`)
      return make(world, 'mtr', 'billing.meter', { ...form, status: 'active' })
    },
  ],
  ['GET', /^\/v1\/billing\/meters\/([^/]+)\/event_summaries$/, summarise],
  ['GET', /^\/v1\/products$/, (world, form) => list(world, 'product', form)],
  ['POST', /^\/v1\/products$/, (world, form) => make(world, 'prod', 'product', { ...form, active: true })],
  ['GET', /^\/v1\/prices$/, listPrices],
  ['POST', /^\/v1\/prices$/, makePrice],
  ['GET', /^\/v1\/webhook_endpoints$/, (world, form) => list(world, 'webhook_endpoint', form)],
  [
    'POST',
    /^\/v1\/webhook_endpoints$/,
    (world, form) => {
      const made = make(world, 'we', 'webhook_endpoint', { ...form, status: 'enabled' })
      // The secret is shown once.
      return { ...made, secret: `whsec_${made.id}` }
    },
  ],
  [
    'POST',
    /^\/v1\/webhook_endpoints\/([^/]+)$/,
    (world, form, id) => Object.assign(world.objects.get('webhook_endpoint', id), form),
  ],
  ['GET', /^\/v1\/billing_portal\/configurations$/, (world, form) => list(world, 'billing_portal.configuration', form)],
  [
    'POST',
    /^\/v1\/billing_portal\/configurations$/,
    (world, form) => make(world, 'bpc', 'billing_portal.configuration', { ...form, active: true }),
  ],
  [
    'POST',
    /^\/v1\/billing_portal\/configurations\/([^/]+)$/,
    (world, form, id) => {
      const portal = world.objects.get('billing_portal.configuration', id)
      return Object.assign(portal, { features: { ...(portal.features as Form), ...(form.features as Form) } })
    },
  ],
]

/** Answers a request whose parameters have been checked. Throws `Refusal`. */
export function answer(
  world: World,
  { method, pathname, form }: { method: string; pathname: string; form: Form },
): unknown {
  for (const [ofMethod, pattern, run] of routes) {
    const match = ofMethod === method ? pattern.exec(pathname) : null
    if (match !== null) return run(world, form, decodeURIComponent(match[1] ?? ''))
  }
  throw new Refusal(404, `Unrecognized request URL (${method}: ${pathname}).`)
}

const NO_DEFAULT = { invoice_settings: { default_payment_method: null } }

function make(world: World, prefix: string, object: string, members: Record<string, unknown>): StripeObject {
  return world.objects.add({
    metadata: {},
    ...members,
    id: world.objects.nextId(prefix),
    object,
    created: world.nowS(),
  })
}

function list(world: World, kind: string, form: Form, isAsked: (each: StripeObject) => boolean = () => true): unknown {
  return toPage(world.objects.all(kind).filter(isAsked), form)
}

function isRecent({ created }: StripeObject, { created: range }: Form): boolean {
  const { gte = '0' } = (range ?? {}) as { gte?: string }
  return Number(created) >= Number(gte)
}

function assertCustomer(world: World, { customer }: Form): void {
  const found = world.objects.get('customer', String(customer))
  if (found.deleted === true)
    throw new Refusal(400, 'The customer was deleted.', { code: 'resource_missing', param: 'customer' })
}

function listPrices(world: World, form: Form): unknown {
  const keys = form.lookup_keys as string[] | undefined
  return list(world, 'price', form, ({ lookup_key }) => keys === undefined || keys.includes(String(lookup_key)))
}

function makePrice(world: World, form: Form): StripeObject {
  const holder = world.objects.all('price').find(({ lookup_key }) => lookup_key === form.lookup_key)
  if (holder !== undefined && form.transfer_lookup_key !== 'true') throw new Refusal(400, 'The lookup key is in use.')
  if (holder !== undefined) holder.lookup_key = null
  const { unit_amount: cents, unit_amount_decimal: exact } = form
  const unit_amount = cents === undefined ? Number(exact) : Number(cents)
  return make(world, 'price', 'price', {
    ...form,
    unit_amount,
    unit_amount_decimal: String(exact ?? cents),
    active: true,
  })
}

/** Counts an event by its identifier, once. */
function countMeterEvent(world: World, form: Form): unknown {
  const { identifier, event_name, timestamp } = form
  const meter = world.objects.all('billing.meter').find((each) => each.event_name === event_name)
  if (meter === undefined) throw new Refusal(400, `No meter counts ${event_name}.`)
  const ageS = world.nowS() - Number(timestamp)
  if (ageS > 35 * 24 * 3600 || ageS < -300) throw new Refusal(400, 'The timestamp is out of range.')
  const isKnown = world.objects.all('billing.meter_event').some((each) => each.identifier === identifier)
  if (isKnown) throw new Refusal(400, `An event already exists with identifier ${identifier}.`)
  return make(world, 'mev', 'billing.meter_event', form)
}

function summarise(world: World, form: Form): unknown {
  const [from, to] = [Number(form.start_time), Number(form.end_time)]
  if (from % 60 !== 0 || to % 60 !== 0) throw new Refusal(400, 'Expected times at whole minutes.')
  const counted = world.objects.all('billing.meter_event').filter(({ payload, timestamp }) => {
    const { stripe_customer_id: customer } = payload as { stripe_customer_id: string }
    return customer === form.customer && Number(timestamp) >= from && Number(timestamp) < to
  })
  const sum = counted.reduce((total, { payload }) => total + Number((payload as { value: string }).value), 0)
  return toPage([{ id: 'mtrusg_1', object: 'billing.meter_event_summary', aggregated_value: sum }], form)
}
