import { z } from 'zod'
import type { Form } from './form.ts'
import { Refusal } from './refusal.ts'

/*
 * Requests that the gateway may send, strictly, by method and path: unknown, missing and mistyped parameters are refused,
 * as by Stripe. Written from Stripe's reference of API version 2026-10-28; the published description, where it exists,
 * checks them a second time.
 */
const text = z.string().min(1).max(5000)
const whole = z.string().regex(/^\d+$/)
const flag = z.enum(['true', 'false'])
const metadata = z.record(z.string().max(40), z.string().max(500))
const page = {
  limit: whole.refine((limit) => Number(limit) >= 1 && Number(limit) <= 100).optional(),
  starting_after: text.optional(),
  ending_before: text.optional(),
}
const created = z.strictObject({ gte: whole.optional(), lte: whole.optional() })
const address = z.url({ protocol: /^https?$/ })
const none = z.strictObject({})
const conditions = z.array(z.strictObject({ type: z.enum(['decreasing_item_amount', 'shortening_interval']) }))
const subscriptionUpdate = z.strictObject({
  enabled: flag,
  default_allowed_updates: z.array(text),
  products: z.array(z.strictObject({ product: text, prices: z.array(text) })),
  proration_behavior: z.enum(['always_invoice', 'create_prorations', 'none']),
  schedule_at_period_end: z.strictObject({ conditions }).optional(),
})

const rules: readonly (readonly [method: string, pattern: RegExp, schema: z.ZodType])[] = [
  ['POST', /^\/v1\/customers$/, z.strictObject({ metadata, email: text.optional() })],
  ['GET', /^\/v1\/customers\/[^/]+$/, none],
  ['GET', /^\/v1\/customers\/[^/]+\/payment_methods$/, z.strictObject({ ...page, type: text.optional() })],
  [
    'POST',
    /^\/v1\/checkout\/sessions$/,
    z.strictObject({
      mode: z.literal('subscription'),
      customer: text,
      client_reference_id: z.string().max(200),
      line_items: z.array(z.strictObject({ price: text, quantity: whole.optional() })).min(1),
      success_url: address,
      cancel_url: address,
      metadata,
      subscription_data: z.strictObject({ metadata }),
      saved_payment_method_options: z.strictObject({ payment_method_save: z.enum(['enabled', 'disabled']) }),
    }),
  ],
  [
    'POST',
    /^\/v1\/billing_portal\/sessions$/,
    z.strictObject({ customer: text, return_url: address, configuration: text.optional() }),
  ],
  ['GET', /^\/v1\/subscriptions$/, z.strictObject({ ...page, customer: text.optional(), status: text.optional() })],
  ['GET', /^\/v1\/subscriptions\/[^/]+$/, none],
  ['GET', /^\/v1\/invoices$/, z.strictObject({ ...page, status: text.optional(), created: created.optional() })],
  ['GET', /^\/v1\/invoices\/[^/]+$/, none],
  ['GET', /^\/v1\/invoices\/[^/]+\/lines$/, z.strictObject(page)],
  ['GET', /^\/v1\/prices\/[^/]+$/, z.strictObject({ expand: z.array(z.literal('currency_options')).optional() })],
  [
    'GET',
    /^\/v1\/invoice_payments$/,
    z.strictObject({ ...page, payment: z.strictObject({ type: z.literal('payment_intent'), payment_intent: text }) }),
  ],
  [
    'POST',
    /^\/v1\/payment_intents$/,
    z.strictObject({
      amount: whole.refine((amount) => Number(amount) >= 50),
      currency: z.literal('usd'),
      customer: text,
      payment_method: text,
      off_session: z.literal('true'),
      confirm: z.literal('true'),
      description: text.optional(),
      metadata,
    }),
  ],
  [
    'GET',
    /^\/v1\/payment_intents$/,
    z.strictObject({ ...page, customer: text.optional(), created: created.optional() }),
  ],
  ['GET', /^\/v1\/payment_intents\/[^/]+$/, none],
  ['GET', /^\/v1\/charges\/[^/]+$/, none],
  ['GET', /^\/v1\/disputes$/, z.strictObject({ ...page, charge: text.optional() })],
  [
    'POST',
    /^\/v1\/billing\/meter_events$/,
    z.strictObject({
      event_name: text.max(100),
      payload: z.strictObject({ stripe_customer_id: text, value: whole }),
      identifier: text.max(100),
      timestamp: whole,
    }),
  ],
  ['GET', /^\/v1\/billing\/meters$/, z.strictObject({ ...page, status: z.enum(['active', 'inactive']).optional() })],
  [
    'POST',
    /^\/v1\/billing\/meters$/,
    z.strictObject({
      display_name: text,
      event_name: text.max(100),
      default_aggregation: z.strictObject({ formula: z.enum(['sum', 'count', 'last']) }),
      customer_mapping: z.strictObject({ type: z.literal('by_id'), event_payload_key: text }),
      value_settings: z.strictObject({ event_payload_key: text }),
    }),
  ],
  [
    'GET',
    /^\/v1\/billing\/meters\/[^/]+\/event_summaries$/,
    z.strictObject({ ...page, customer: text, start_time: whole, end_time: whole }),
  ],
  ['GET', /^\/v1\/products$/, z.strictObject({ ...page, active: flag.optional() })],
  ['POST', /^\/v1\/products$/, z.strictObject({ name: text, metadata, unit_label: text.optional() })],
  [
    'GET',
    /^\/v1\/prices$/,
    z.strictObject({ ...page, active: flag.optional(), lookup_keys: z.array(text).max(10).optional() }),
  ],
  [
    'POST',
    /^\/v1\/prices$/,
    z.strictObject({
      product: text,
      currency: z.literal('usd'),
      unit_amount: whole.optional(),
      unit_amount_decimal: z
        .string()
        .regex(/^\d+(\.\d{1,12})?$/)
        .optional(),
      recurring: z.strictObject({
        interval: z.enum(['day', 'week', 'month', 'year']),
        usage_type: z.enum(['licensed', 'metered']).optional(),
        meter: text.optional(),
      }),
      lookup_key: text.max(200),
      transfer_lookup_key: flag.optional(),
      metadata,
    }),
  ],
  ['GET', /^\/v1\/webhook_endpoints$/, z.strictObject(page)],
  [
    'POST',
    /^\/v1\/webhook_endpoints$/,
    z.strictObject({
      url: address,
      enabled_events: z.array(text).min(1),
      api_version: text.optional(),
      description: text.optional(),
      metadata: metadata.optional(),
    }),
  ],
  ['POST', /^\/v1\/webhook_endpoints\/[^/]+$/, z.strictObject({ enabled_events: z.array(text).min(1) })],
  ['GET', /^\/v1\/billing_portal\/configurations$/, z.strictObject({ ...page, active: flag.optional() })],
  [
    'POST',
    /^\/v1\/billing_portal\/configurations$/,
    z.strictObject({
      business_profile: z.strictObject({ headline: z.string().max(60).optional() }).optional(),
      features: z.strictObject({
        invoice_history: z.strictObject({ enabled: flag }),
        payment_method_update: z.strictObject({ enabled: flag }),
        customer_update: z.strictObject({ enabled: flag, allowed_updates: z.array(text) }),
        subscription_cancel: z.strictObject({ enabled: flag, mode: z.enum(['at_period_end', 'immediately']) }),
        subscription_update: subscriptionUpdate,
      }),
      metadata,
    }),
  ],
  [
    'POST',
    /^\/v1\/billing_portal\/configurations\/[^/]+$/,
    z.strictObject({ features: z.strictObject({ subscription_update: subscriptionUpdate }) }),
  ],
]

/** Refuses a request whose path or parameters are not known. Throws `Refusal`. */
export function checkParameters(method: string, pathname: string, form: Form): void {
  const rule = rules.find(([ofMethod, pattern]) => ofMethod === method && pattern.test(pathname))
  if (rule === undefined) throw new Refusal(404, `Unrecognized request URL (${method}: ${pathname}).`)
  const parsed = rule[2].safeParse(form)
  if (parsed.success) return
  const [issue] = parsed.error.issues
  const param = issue?.path.join('.') ?? ''
  throw new Refusal(400, `${method} ${pathname} ${param}: ${issue?.message}`, { param })
}
