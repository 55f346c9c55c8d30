import type Stripe from 'stripe'
import type { PaidTier } from '../../core/ports/billing.ts'
import { METER_EVENT } from './meter.ts'
import { EVENT_TYPES } from './webhook.ts'

/** The products to sell, and the webhook's address. */
export interface SetupRequest {
  /** Price of a month, in cents. */
  readonly monthlyCents: Readonly<Record<PaidTier, number>>
  /** Price of a metered call beyond the plan, in cents, e.g. `0.01`; `undefined`: calls are not metered. */
  readonly overageCents: string | undefined
  /** Address of `POST /v1/billing/webhook`; `undefined`: no endpoint is created. */
  readonly webhookUrl: string | undefined
}

/** An object that setup found or created. */
export interface SetupStep {
  readonly what: string
  readonly id: string
  readonly isNew: boolean
  /** The environment variable for it, with its value; a webhook's secret is returned only when it is created. */
  readonly variable?: readonly [name: string, value: string]
}

const MARK = 'turnpike'
const TIERS: readonly PaidTier[] = ['pro', 'team']
/** Changes of a plan that the portal schedules for the period's end. */
const DOWNGRADES = ['decreasing_item_amount', 'shortening_interval'] as const
const NAMES: Readonly<Record<PaidTier, string>> = { pro: 'Pro', team: 'Team' }

/**
 * Creates the missing objects at Stripe: products, prices, meter, portal, webhook
 * endpoint. It recognises its own objects by metadata and lookup keys, so it is idempotent. A changed price
 * is created anew, since prices are immutable at Stripe; existing subscriptions keep the old one.
 */
export async function setUp(stripe: Stripe, request: SetupRequest): Promise<SetupStep[]> {
  const steps: SetupStep[] = []
  const sold: { product: string; price: string }[] = []
  for (const tier of TIERS) {
    const product = await ensureProduct(stripe, { role: tier, name: NAMES[tier] })
    const unit = String(request.monthlyCents[tier])
    const price = await ensurePrice(stripe, { role: tier, product: product.id, unit, recurring: { interval: 'month' } })
    sold.push({ product: product.id, price: price.id })
    steps.push(product, { ...price, variable: [`STRIPE_PRICE_${tier.toUpperCase()}`, price.id] })
  }
  if (request.overageCents !== undefined) steps.push(...(await setUpMeter(stripe, request.overageCents)))
  const portal = await ensurePortal(stripe, sold)
  steps.push({ ...portal, variable: ['STRIPE_PORTAL', portal.id] })
  if (request.webhookUrl !== undefined) steps.push(await ensureWebhook(stripe, request.webhookUrl))
  return steps
}

async function setUpMeter(stripe: Stripe, unit: string): Promise<SetupStep[]> {
  const meter = await ensureMeter(stripe)
  const product = await ensureProduct(stripe, { role: 'overage', name: 'Calls beyond the plan' })
  const recurring = { interval: 'month', usage_type: 'metered', meter: meter.id } as const
  const price = await ensurePrice(stripe, { role: 'overage', product: product.id, unit, recurring })
  return [meter, product, { ...price, variable: ['STRIPE_PRICE_OVERAGE', price.id] }]
}

async function ensureProduct(stripe: Stripe, { role, name }: { role: string; name: string }): Promise<SetupStep> {
  for await (const { id, metadata } of stripe.products.list({ active: true, limit: 100 })) {
    if (metadata[MARK] === role) return { what: `product ${name}`, id, isNew: false }
  }
  const { id } = await stripe.products.create({ name, metadata: { [MARK]: role } })
  return { what: `product ${name}`, id, isNew: true }
}

interface PriceWish {
  readonly role: string
  readonly product: string
  /** Cents, with up to 12 decimal places. */
  readonly unit: string
  readonly recurring: Stripe.PriceCreateParams.Recurring
}

async function ensurePrice(stripe: Stripe, { role, product, unit, recurring }: PriceWish): Promise<SetupStep> {
  const lookup_key = `${MARK}_${role}`
  const what = `price ${lookup_key}`
  const { data } = await stripe.prices.list({ lookup_keys: [lookup_key], active: true, limit: 1 })
  const [present] = data
  const isSame =
    present?.product === product &&
    Number(String(present.unit_amount_decimal)) === Number(unit) &&
    (present.recurring?.meter ?? undefined) === recurring.meter
  if (present !== undefined && isSame) return { what, id: present.id, isNew: false }
  const { id } = await stripe.prices.create({
    product,
    currency: 'usd',
    unit_amount_decimal: stripe.Decimal.from(unit),
    recurring,
    lookup_key,
    transfer_lookup_key: true,
    metadata: { turnpike_tier: role },
  })
  return { what, id, isNew: true }
}

async function ensureMeter(stripe: Stripe): Promise<SetupStep> {
  const what = `meter ${METER_EVENT}`
  for await (const { id, event_name } of stripe.billing.meters.list({ status: 'active', limit: 100 })) {
    if (event_name === METER_EVENT) return { what, id, isNew: false }
  }
  const { id } = await stripe.billing.meters.create({
    display_name: 'Calls beyond the plan',
    event_name: METER_EVENT,
    default_aggregation: { formula: 'sum' },
    customer_mapping: { type: 'by_id', event_payload_key: 'stripe_customer_id' },
    value_settings: { event_payload_key: 'value' },
  })
  return { what, id, isNew: true }
}

async function ensurePortal(stripe: Stripe, sold: readonly { product: string; price: string }[]): Promise<SetupStep> {
  const what = 'customer portal'
  // A portal that offers other prices is obsolete.
  const role = sold.map(({ price }) => price).join(' ')
  const subscription_update = {
    enabled: true,
    default_allowed_updates: ['price' as const],
    products: sold.map(({ product, price }) => ({ product, prices: [price] })),
    proration_behavior: 'create_prorations' as const,
    // An immediate downgrade would refund credits that are spent.
    schedule_at_period_end: { conditions: DOWNGRADES.map((type) => ({ type })) },
  }
  for await (const { id, metadata, features } of stripe.billingPortal.configurations.list({
    active: true,
    limit: 100,
  })) {
    if (metadata?.[MARK] !== role) continue
    const { conditions = [] } = features.subscription_update.schedule_at_period_end ?? {}
    const lacks = DOWNGRADES.some((wanted) => !conditions.some(({ type }) => type === wanted))
    if (lacks) await stripe.billingPortal.configurations.update(id, { features: { subscription_update } })
    return { what, id, isNew: false }
  }
  const { id } = await stripe.billingPortal.configurations.create({
    business_profile: { headline: 'Plan, card and invoices' },
    features: {
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true },
      customer_update: { enabled: true, allowed_updates: ['email', 'address', 'tax_id'] },
      subscription_cancel: { enabled: true, mode: 'at_period_end' },
      subscription_update,
    },
    metadata: { [MARK]: role },
  })
  return { what, id, isNew: true }
}

async function ensureWebhook(stripe: Stripe, url: string): Promise<SetupStep> {
  const what = `webhook endpoint ${url}`
  // Safe: the names are those of Stripe's own union, checked by the stand-in and by Stripe.
  const enabled_events = [...EVENT_TYPES] as Stripe.WebhookEndpointCreateParams.EnabledEvent[]
  for await (const endpoint of stripe.webhookEndpoints.list({ limit: 100 })) {
    if (endpoint.url !== url) continue
    const lacks = EVENT_TYPES.some((type) => !endpoint.enabled_events.includes(type))
    if (lacks) await stripe.webhookEndpoints.update(endpoint.id, { enabled_events })
    return { what, id: endpoint.id, isNew: false }
  }
  const { id, secret } = await stripe.webhookEndpoints.create({ url, enabled_events, metadata: { [MARK]: 'webhook' } })
  return {
    what,
    id,
    isNew: true,
    ...(secret !== undefined && { variable: ['STRIPE_WEBHOOK_SECRET', secret] as const }),
  }
}
