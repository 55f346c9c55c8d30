import { createHmac } from 'node:crypto'
import test from 'ava'
import Stripe from 'stripe'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import type { AutoRecharge, MeterReport, PendingRecharge } from '../../core/ports/billing.ts'
import { createBilling } from './billing.ts'
import { AUTO_RECHARGE_DEFAULTS, autoRechargeFields, parseAutoRecharge } from './billing-request.ts'
import { accountOf, shortId } from './customers.ts'
import { faultFields, isMissing, toGatewayError } from './errors.ts'
import { creditsOfInvoice } from './invoice-credits.ts'
import { reportMeter } from './meter.ts'
import { type BillingParts, idOf } from './parts.ts'
import { applyInvoice, refreshCharge } from './payments.ts'
import { PriceReader, planPriceOf } from './plan-prices.ts'
import { rechargeAll } from './recharge.ts'
import { reconcile } from './reconcile.ts'
import { returnAddress } from './return-address.ts'
import { isName, openEvent } from './signature.ts'
import { createStripeClient } from './stripe-client.ts'
import { applyAll, tierOfPrice } from './subscriptions.ts'
import { takeWebhook } from './webhook.ts'

const HOUR_MS = 3_600_000
const SETTINGS = {
  webhookSecrets: ['whsec_new', 'whsec_old'],
  prices: { pro: 'price_pro', team: 'price_team' },
  overagePrice: undefined,
  portal: undefined,
  credits: { pro: 2_000_000, team: 10_000_000 },
  trialCredits: 50_000,
}

/** An error as Stripe's package throws it. */
const fault = (type: string, members: object = {}) => Object.assign(new Error('secret sk_live_1'), { type, ...members })

/** Dependencies with these members of Stripe and the store. Safe: no others are used. */
function partsOf({ stripe = {}, store = {}, nowMs = 0 }: { stripe?: object; store?: object; nowMs?: number } = {}) {
  const parts = { stripe: async () => stripe, store, settings: SETTINGS, clock: { nowMs: () => nowMs } }
  return { ...parts, log: createRecordingLog() } as unknown as BillingParts
}

const AUTO: AutoRecharge = { ...AUTO_RECHARGE_DEFAULTS, enabled: true }

test('auto-recharge: defaults and bounds are those of the documentation', (t) => {
  t.deepEqual(AUTO_RECHARGE_DEFAULTS, {
    enabled: false,
    thresholdCredits: 100_000,
    amountCredits: 1_000_000,
    monthlyLimitCredits: 10_000_000,
    disabledReason: null,
  })
  const rows: [member: string, accepted: unknown[], refused: unknown[]][] = [
    ['autoRechargeEnabled', [true, false], ['true', 1]],
    ['autoRechargeThreshold', [0, 200_000_000], [-1, 200_000_001, 0.5]],
    ['autoRechargeAmount', [500_000, 501_000, 200_000_000], [499_000, 500_001, 200_001_000]],
    ['autoRechargeMonthlyLimit', [500_000, 500_001, 2_000_000_000], [499_999, 2_000_000_001]],
  ]
  for (const [member, accepted, refused] of rows) {
    for (const value of accepted)
      t.true(autoRechargeFields.safeParse({ [member]: value }).success, `${member} ${value}`)
    for (const value of refused)
      t.false(autoRechargeFields.safeParse({ [member]: value }).success, `${member} ${value}`)
  }
  for (const body of [{}, { enabled: true }, []]) t.false(autoRechargeFields.safeParse(body).success)
})

test('auto-recharge: a change keeps the other settings', (t) => {
  const { disabledReason: _, ...present } = AUTO
  const rows: [body: object, changed: object][] = [
    [{ autoRechargeEnabled: false }, { enabled: false }],
    [{ autoRechargeThreshold: 0 }, { thresholdCredits: 0 }],
    [{ autoRechargeAmount: 600_000 }, { amountCredits: 600_000 }],
    [{ autoRechargeMonthlyLimit: 700_000 }, { monthlyLimitCredits: 700_000 }],
  ]
  for (const [body, changed] of rows) t.deepEqual(parseAutoRecharge(body, AUTO), { ...present, ...changed })
})

test('auto-recharge: one recharge exceeds the threshold and fits into a month', async (t) => {
  const billing = createBilling(
    partsOf({
      store: { setAutoRecharge: async () => {}, claimTask: async () => false, belowThreshold: async () => [] },
    }),
    { times: { rechargeMs: HOUR_MS, meterMs: HOUR_MS }, randomId: () => 'r' },
  )
  t.teardown(() => billing.close())
  const set = (thresholdCredits: number, amountCredits: number, monthlyLimitCredits: number) =>
    billing.setAutoRecharge('u', { enabled: true, thresholdCredits, amountCredits, monthlyLimitCredits })
  await t.notThrowsAsync(set(5, 6, 6))
  await t.throwsAsync(set(6, 6, 6), { message: /^autoRechargeAmount/ })
  await t.throwsAsync(set(5, 6, 5), { message: /^autoRechargeMonthlyLimit/ })
})

test('return addresses: http(s), without credentials, of an allowed origin or the gateway’s own', (t) => {
  const home = 'https://gate.example/dashboard'
  const passes = (text: string, allowedOrigins: string[] = []) => {
    try {
      return (
        returnAddress('successUrl', text, { addresses: { dashboardUrl: undefined, allowedOrigins }, home }) === text
      )
    } catch {
      return false
    }
  }
  const rows: [text: string, allowed: string[], expected: boolean][] = [
    ['https://any.example/x?s={CHECKOUT_SESSION_ID}', [], true],
    ['http://any.example', [], true],
    ['javascript:alert(1)', [], false],
    ['/relative', [], false],
    ['https://user@any.example', [], false],
    ['https://:pass@any.example', [], false],
    ['https://shop.example/x', ['https://shop.example/y'], true],
    ['https://gate.example/', ['https://shop.example'], true],
    ['https://evil.example', ['https://shop.example'], false],
    ['https://shop.example:444', ['https://shop.example'], false],
  ]
  for (const [text, allowed, expected] of rows) t.is(passes(text, allowed), expected, `${text} ${allowed}`)
})

test('errors of Stripe: what the client receives, never its message', (t) => {
  const rows: [type: string, members: object, code: string][] = [
    ['StripeConnectionError', {}, 'service_unavailable'],
    ['StripeAPIError', {}, 'service_unavailable'],
    ['StripeRateLimitError', {}, 'service_unavailable'],
    ['StripeAuthenticationError', {}, 'not_configured'],
    ['StripePermissionError', {}, 'not_configured'],
    ['StripeInvalidRequestError', { param: 'success_url' }, 'invalid_request'],
    ['StripeInvalidRequestError', { param: 'cancel_url' }, 'invalid_request'],
    ['StripeInvalidRequestError', { param: 'return_url' }, 'invalid_request'],
    ['StripeInvalidRequestError', { param: 'customer' }, 'internal_error'],
    ['StripeInvalidRequestError', {}, 'internal_error'],
    ['StripeCardError', { param: 'success_url' }, 'internal_error'],
  ]
  for (const [type, members, code] of rows) {
    const error = toGatewayError(fault(type, members)) as Error & { code: string } // safe: an error of the gateway
    t.is(error.code, code, type)
    t.notRegex(`${error.message}${String(error.cause)}`, /sk_live/)
  }
  const other = new Error('x')
  t.is(toGatewayError(other), other)
  t.true(isMissing(fault('StripeInvalidRequestError', { code: 'resource_missing' })))
  t.false(isMissing(fault('StripeInvalidRequestError', { code: 'other' })))
  t.false(isMissing(Object.assign(new Error(), { code: 'resource_missing' })))
  t.notRegex(JSON.stringify(faultFields(fault('StripeCardError', { requestId: 'req_1' }))), /sk_live/)
  t.like(faultFields(fault('StripeCardError', { requestId: 'req_1', decline_code: 'd' })), {
    stripe: { type: 'StripeCardError', requestId: 'req_1', declineCode: 'd' },
  })
})

test('signatures: any configured secret, within five minutes in both directions', async (t) => {
  const body = Buffer.from('{"id":"evt_1","type":"invoice.paid","object":"event"}')
  const { webhooks } = new Stripe('sk_test_1')
  const nowS = Math.floor(Date.now() / 1000)
  const signed = (atS: number, secret: string) =>
    `t=${atS},v1=${createHmac('sha256', secret).update(`${atS}.${body}`).digest('hex')}`
  const opens = (signature: string, sent = body) =>
    openEvent(partsOf({ stripe: { webhooks }, nowMs: nowS * 1000 }), { body: sent, signature }).then(
      ({ id }) => id === 'evt_1',
      () => false,
    )
  t.true(await opens(signed(nowS, 'whsec_new')))
  t.true(await opens(signed(nowS, 'whsec_old')), 'a rotated secret')
  t.true(await opens(signed(nowS + 300, 'whsec_new')))
  t.false(await opens(signed(nowS + 301, 'whsec_new')), 'the future')
  t.true(await opens(signed(nowS - 200, 'whsec_new')), 'far from the bound: Stripe’s package reads the time')
  t.false(await opens(signed(nowS - 310, 'whsec_new')), 'too old')
  t.false(await opens(signed(nowS, 'whsec_other')))
  t.false(await opens(''))
  t.false(await opens(signed(nowS, 'whsec_new'), Buffer.from(`${body} `)), 'another body')
  for (const name of ['evt_1', 'x'.repeat(255)]) t.true(isName(name))
  for (const name of ['', 'a b', 'é', 'x'.repeat(256), 5, null, undefined]) t.false(isName(name), String(name))
})

test('webhooks: each event fetches its subject; the unknown fetch nothing', async (t) => {
  const nowS = Math.floor(Date.now() / 1000)
  const { webhooks } = new Stripe('sk_test_1')
  const subjectOf = async (type: string, object: object, isSeen = false) => {
    const fetched: string[] = []
    const fetch = (kind: string) => async (id: string) => {
      fetched.push(`${kind} ${id}`)
      throw fault('StripeInvalidRequestError', { code: 'resource_missing' })
    }
    const stripe = {
      webhooks,
      subscriptions: { retrieve: fetch('subscription') },
      invoices: { retrieve: fetch('invoice') },
      paymentIntents: { retrieve: fetch('intent') },
      charges: { retrieve: fetch('charge') },
      customers: { retrieve: fetch('customer') },
    }
    const store = {
      hasSeen: async () => isSeen,
      takeTicket: async () => 1,
      forgetCustomer: async () => fetched.push('gone'),
    }
    const body = Buffer.from(JSON.stringify({ id: 'evt_1', type, object: 'event', data: { object } }))
    const signature = `t=${nowS},v1=${createHmac('sha256', 'whsec_new').update(`${nowS}.${body}`).digest('hex')}`
    await takeWebhook(partsOf({ stripe, store, nowMs: nowS * 1000 }), { body, signature })
    return fetched.join()
  }
  const byId = [
    ['invoice.paid', 'invoice a'],
    ['payment_intent.amount_capturable_updated', 'intent a'],
    ['payment_intent.succeeded', 'intent a'],
    ['payment_intent.payment_failed', 'intent a'],
    ['payment_intent.canceled', 'intent a'],
    ['charge.refunded', 'charge a'],
    ['customer.deleted', 'customer a,gone'],
    ...['created', 'updated', 'deleted', 'paused', 'resumed'].map((end) => [
      `customer.subscription.${end}`,
      'subscription a',
    ]),
  ] as [string, string][]
  for (const [type, expected] of byId) t.is(await subjectOf(type, { id: 'a' }), expected, type)
  for (const end of ['completed', 'async_payment_succeeded', 'async_payment_failed'])
    t.is(await subjectOf(`checkout.session.${end}`, { id: 'a', subscription: 'b' }), 'subscription b')
  for (const end of ['created', 'closed'])
    t.is(await subjectOf(`charge.dispute.${end}`, { id: 'a', charge: { id: 'b' } }), 'charge b')
  t.is(await subjectOf('invoice.created', { id: 'a' }), '')
  t.is(await subjectOf('toString', { id: 'a' }), '')
  t.is(await subjectOf('v1.billing.meter.error_report_triggered', { id: 'a' }), '')
  t.is(await subjectOf('checkout.session.completed', { id: 'a', subscription: null }), '', 'a purchase of no plan')
  t.is(await subjectOf('invoice.paid', { id: 'a' }, true), '', 'a repeated delivery')
  await t.throwsAsync(subjectOf('invoice.paid', { id: 'a b' }), { code: 'invalid_request' })
})

test('customers: ids, whole or expanded, and long ones as a part of keys', async (t) => {
  t.is(idOf('cus_1'), 'cus_1')
  t.is(idOf({ id: 'cus_1' }), 'cus_1')
  t.is(idOf(null), undefined)
  t.is(shortId('x'.repeat(80)), 'x'.repeat(80))
  t.regex(shortId('x'.repeat(81)), /^sha256-[\w-]{43}$/)
  const parts = partsOf({ store: { accountOf: async (id: string) => (id === 'cus_1' ? 'stored' : undefined) } })
  t.is(await accountOf(parts, 'cus_1', { user_id: 'said' }), 'stored', 'the stored account wins')
  t.is(await accountOf(parts, 'cus_2', { user_id: 'said' }), 'said')
  t.is(await accountOf(parts, undefined, null), undefined)
})

const priceOf = (members: object) =>
  ({ id: 'price_x', metadata: {}, currency: 'usd', ...members }) as unknown as Stripe.Price // safe: no others are read

test('plans: the tier of a price, as configured, as marked, or as its subscription names it', (t) => {
  t.is(tierOfPrice(SETTINGS, priceOf({ id: 'price_pro' })), 'pro')
  t.is(tierOfPrice(SETTINGS, priceOf({ id: 'price_team' })), 'team')
  t.is(tierOfPrice(SETTINGS, priceOf({ metadata: { turnpike_tier: 'team' } })), 'team')
  t.is(tierOfPrice(SETTINGS, priceOf({ metadata: { turnpike_tier: 'overage' } })), undefined)
  const plan = (members: object, otherwise?: 'pro', currency = 'usd') =>
    planPriceOf(SETTINGS, priceOf(members), { currency, otherwise })
  const unit_amount_decimal = '12.5'
  t.deepEqual(plan({ id: 'price_pro', unit_amount_decimal }), { tier: 'pro', unitPicos: 12_500_000_000_000n })
  t.deepEqual(plan({ unit_amount_decimal: '0.0000000000019' }, 'pro'), { tier: 'pro', unitPicos: 1n })
  t.is(plan({ unit_amount_decimal }), undefined)
  t.is(plan({ recurring: { usage_type: 'metered' } }, 'pro'), undefined, 'metered calls are no plan')
  const currency_options = { eur: { unit_amount_decimal: '7' } }
  t.is(plan({ id: 'price_pro', unit_amount_decimal, currency_options }, undefined, 'eur')?.unitPicos, 7n * 10n ** 12n)
  t.is(plan({ id: 'price_pro', unit_amount_decimal }, undefined, 'eur')?.unitPicos, 0n, 'no price in this currency')
})

interface Line {
  cents?: number
  price?: string
  isProration?: boolean
  discount?: number
  quantity?: number
  isByHand?: boolean
}

/** An invoice of these lines, as far as it is read. */
function invoiceOf(lines: readonly Line[], members: object = {}) {
  const data = lines.map(
    ({ cents = 2000, price = 'price_pro', isProration = false, discount = 0, quantity = 1, isByHand = false }) => ({
      currency: 'usd',
      subtotal: cents,
      quantity,
      discount_amounts: discount === 0 ? null : [{ amount: discount }],
      pricing: { price_details: { price } },
      parent: isByHand
        ? { type: 'invoice_item_details', invoice_item_details: { proration: isProration } }
        : { type: 'subscription_item_details', subscription_item_details: { proration: isProration } },
    }),
  )
  const total = lines.reduce((sum, { cents = 2000, discount = 0 }) => sum + cents - discount, 0)
  const whole = { id: 'in_1', status: 'paid', customer: 'cus_1', total, lines: { data, has_more: false }, ...members }
  return whole as unknown as Stripe.Invoice // safe: no others are read
}

const prices = {
  retrieve: async (id: string) => priceOf({ id, unit_amount_decimal: id === 'price_team' ? '10000' : '2000' }),
}

test('invoices: credits of periods and prorations, after discounts, and no credits without payment', async (t) => {
  const stripe = { prices } as unknown as Stripe // safe: only prices are read
  const creditsOf = async (lines: readonly Line[], members: object = {}) =>
    creditsOfInvoice(partsOf({ stripe }), invoiceOf(lines, members), new PriceReader(stripe))
  const rows: [lines: Line[], members: object, credits: number, proratedCredits: number, why: string][] = [
    [[{}], {}, 2_000_000, 0, 'a month'],
    [[{ cents: 1000 }], {}, 1_000_000, 0, 'half of it'],
    [[{ discount: 500 }], {}, 1_500_000, 0, 'a discount'],
    [[{ price: 'price_team', cents: 10_000 }], {}, 10_000_000, 0, 'another plan'],
    [[{ isProration: true, cents: 500 }], {}, 0, 500_000, 'an upgrade'],
    [[{ isProration: true, cents: -500 }, {}], {}, 2_000_000, -500_000, 'a returned part'],
    [[{ isByHand: true, isProration: true, cents: 500 }], {}, 0, 500_000, 'a proration as an item'],
    [[{}], { total: 0 }, 0, 0, 'waived: nothing was paid'],
    [
      [{ isProration: true, cents: -500 }, { cents: 2000 }],
      { total: 0 },
      0,
      -500_000,
      'waived: what is returned stays',
    ],
    [[{ discount: 2500 }], { total: 5 }, 0, 0, 'never negative for a period'],
  ]
  for (const [lines, members, credits, proratedCredits, why] of rows)
    t.like(await creditsOf(lines, members), { credits, proratedCredits }, why)
  t.is(await creditsOf([{ isByHand: true }]), undefined, 'an item that was added by hand')
  t.is(await creditsOf([{ price: 'price_x' }]), undefined, 'another product')
  const named = { parent: { subscription_details: { metadata: { tier: 'team' } } } }
  t.like(await creditsOf([{ price: 'price_x' }], named), { credits: 10_000_000 }, 'as its subscription names it')
  t.like(await creditsOf([{ price: 'price_x' }, {}], named), { credits: 2_000_000 }, 'a known price beside it')
  const created = { billing_reason: 'subscription_create' }
  t.is((await creditsOf([{ cents: 0 }], created))?.trialOf, 'pro')
  t.is((await creditsOf([{ cents: 0 }], {}))?.trialOf, undefined, 'a later free period is no trial')
  t.is((await creditsOf([{}], created))?.trialOf, undefined)
  t.is((await creditsOf([{ discount: 2000 }], created))?.trialOf, undefined, 'a discount is no trial')
  t.is((await creditsOf([{ cents: 0, quantity: 0 }], created))?.trialOf, undefined)
})

test('invoices: only a paid one grants credits; a trial’s are those of its account, once', async (t) => {
  const stripe = { prices } as unknown as Stripe // safe: only prices are read
  const apply = async (invoice: Stripe.Invoice, account: string | undefined = 'u') => {
    const applied: object[] = []
    const store = { accountOf: async () => account, applyPayment: async (payment: object) => applied.push(payment) }
    const entered = await applyInvoice(partsOf({ store, stripe }), invoice, { prices: new PriceReader(stripe) })
    return { entered, applied }
  }
  const paid = await apply(invoiceOf([{}], { total: 2380 }))
  t.deepEqual<unknown, unknown>(paid.entered, { paymentId: 'invoice:in_1', totalCents: 2380 })
  t.like(paid.applied, [{ paymentId: 'invoice:in_1', accountId: 'u', credits: 2_000_000, proratedCredits: 0 }])
  for (const status of ['open', 'draft', 'void']) t.deepEqual((await apply(invoiceOf([{}], { status }))).applied, [])
  t.deepEqual((await apply({ ...invoiceOf([{}]), customer: null } as Stripe.Invoice)).applied, [], 'of no account')
  const trial = await apply(invoiceOf([{ cents: 0 }], { billing_reason: 'subscription_create' }))
  t.like(trial.applied, [{ credits: 0 }, { paymentId: 'trial:u', credits: 50_000, proratedCredits: 0 }])
})

test('refunds: the share that is gone, of what was paid, with disputes that withhold money', async (t) => {
  interface Charge {
    amount?: number
    refunded?: number
    disputes?: [status: string, amount: number][]
    totalCents?: number
  }
  const reversalOf = async ({ amount = 2000, refunded = 0, disputes = [], totalCents = 2000 }: Charge) => {
    let reversal: unknown
    const stripe = {
      prices,
      charges: {
        retrieve: async () => ({
          amount,
          amount_refunded: refunded,
          payment_intent: 'pi_1',
          disputed: disputes.length > 0,
        }),
      },
      paymentIntents: { retrieve: async () => ({ metadata: {}, status: 'succeeded' }) },
      invoicePayments: { list: async () => ({ data: [{ invoice: 'in_1' }] }) },
      invoices: { retrieve: async () => invoiceOf([{}], { total: totalCents }) },
      disputes: { list: async () => ({ data: disputes.map(([status, amount]) => ({ status, amount })) }) },
    }
    const store = {
      takeTicket: async () => 1,
      accountOf: async () => 'u',
      applyPayment: async () => {},
      applyReversal: async (one: unknown) => {
        reversal = one
      },
    }
    await refreshCharge(partsOf({ stripe, store }), 'ch_1')
    return reversal
  }
  const rows: [charge: Charge, share: number, isDisputed: boolean][] = [
    [{ refunded: 2000 }, 1, false],
    [{ refunded: 500 }, 0.25, false],
    [{ refunded: 0 }, 0, false],
    [{ refunded: 500, totalCents: 5000 }, 0.1, false],
    [{ refunded: 500, totalCents: 0 }, 0.25, false],
    [{ disputes: [['needs_response', 2000]] }, 1, true],
    [{ disputes: [['under_review', 500]] }, 0.25, true],
    [{ disputes: [['lost', 500]], refunded: 500 }, 0.5, true],
    [{ disputes: [['won', 2000]] }, 0, true],
    [{ disputes: [['warning_needs_response', 2000]] }, 0, true],
    [{ disputes: [['lost', 2000]], refunded: 2000 }, 1, true],
  ]
  for (const [charge, share, isDisputed] of rows)
    t.deepEqual(await reversalOf(charge), { paymentId: 'invoice:in_1', share, isDisputed }, JSON.stringify(charge))
})

test('subscriptions: the plan is the item’s whose price is known, its period in milliseconds', async (t) => {
  const apply = async (members: object) => {
    const applied: object[] = []
    const store = { accountOf: async () => 'u', applySubscription: async (one: object) => applied.push(one) }
    const subscription = { id: 'sub_1', customer: 'cus_1', metadata: {}, status: 'active', ...members }
    await applyAll(partsOf({ store }), [subscription as Stripe.Subscription], 1) // safe: no others are read
    return applied[0]
  }
  const item = (id: string, start = 10) => ({
    price: priceOf({ id }),
    current_period_start: start,
    current_period_end: 20,
  })
  const items = { data: [item('price_x', 1), item('price_team')] }
  t.deepEqual<unknown, unknown>(await apply({ items }), {
    id: 'sub_1',
    accountId: 'u',
    status: 'active',
    tier: 'team',
    periodStartMs: 10_000,
    periodEndMs: 20_000,
  })
  t.like(await apply({ items: { data: [item('price_x')] }, metadata: { tier: 'pro' } }), { tier: 'pro' })
  t.is(await apply({ items: { data: [item('price_x')] } }), undefined, 'no plan')
  t.is(await apply({ items: { data: [] }, metadata: { tier: 'pro' } }), undefined)
})

test('reconcile: a fetch that begins while a page is listed is newer than the page', async (t) => {
  let ticket = 0
  let newer = 0
  const applied: number[] = []
  const store = {
    takeTicket: async () => ++ticket,
    accountOf: async () => 'u',
    applySubscription: async (_: object, fetch: { ticket: number }) => applied.push(fetch.ticket),
  }
  const items = { data: [{ price: priceOf({ id: 'price_pro' }), current_period_start: 1, current_period_end: 2 }] }
  const none = { list: async () => ({ data: [], has_more: false }) }
  const subscriptions = {
    async list() {
      newer = await store.takeTicket()
      return { data: [{ id: 'sub_1', customer: 'cus_1', metadata: {}, status: 'active', items }], has_more: false }
    },
  }
  await reconcile(partsOf({ store, stripe: { subscriptions, invoices: none, paymentIntents: none } }))
  t.deepEqual(applied, [newer - 1])
})

test('meter: hours are reported once, under their identifier, until they are too old', async (t) => {
  const NOW_MS = 1000 * 24 * HOUR_MS
  interface Case {
    report?: Partial<MeterReport>
    counted?: number
    error?: Error
    customerId?: string | null
  }
  const send = async ({ report = {}, counted = 0, error, customerId = 'cus_1' }: Case) => {
    const events: { identifier: string; timestamp: number; payload: object }[] = []
    const ends: unknown[] = []
    const base = {
      id: 'm',
      accountId: 'u',
      hourMs: NOW_MS - HOUR_MS,
      part: 1,
      calls: 5,
      callsSoFar: 5,
      triedAtMs: null,
    }
    const store = {
      collectMeterReports: async () => {},
      takeMeterReports: async () => [{ ...base, ...report }],
      endMeterReport: async (_: string, end: unknown) => ends.push(end),
      customer: async () => ({ customerId }),
    }
    const meterEvents = {
      create: async (event: (typeof events)[number]) => {
        events.push(event)
        if (error !== undefined) throw error
      },
    }
    const meters = {
      list: async () => ({
        data: [
          { id: 'x', event_name: 'x' },
          { id: 'mtr', event_name: 'turnpike_overage_calls' },
        ],
      }),
      listEventSummaries: async (id: string) => ({ data: id === 'mtr' ? [{ aggregated_value: counted }] : [] }),
    }
    await reportMeter(partsOf({ store, stripe: { billing: { meterEvents, meters } }, nowMs: NOW_MS }))
    return { ends, events }
  }
  const hour = (NOW_MS - HOUR_MS) / HOUR_MS
  const first = await send({})
  t.deepEqual(first.ends, ['sent'])
  t.like(first.events, [
    { identifier: `ov:u:${hour}`, timestamp: hour * 3600, payload: { stripe_customer_id: 'cus_1', value: '5' } },
  ])
  t.is((await send({ report: { part: 2 } })).events[0]?.identifier, `ov:u:${hour}:2`)
  const known = Object.assign(new Error(`an event with identifier ov:u:${hour} exists`), {
    type: 'StripeInvalidRequestError',
    statusCode: 400,
  })
  t.deepEqual((await send({ error: known })).ends, ['sent'], 'it was counted before')
  t.deepEqual((await send({ error: Object.assign(known, { statusCode: 500 }) })).ends, [], 'a later round retries')
  const rows: [report: Partial<MeterReport>, counted: number, ends: string[], events: number, why: string][] = [
    [{ triedAtMs: NOW_MS - 23 * HOUR_MS }, 5, ['sent'], 1, 'Stripe still knows the identifier'],
    [{ triedAtMs: NOW_MS - 23 * HOUR_MS - 1 }, 5, ['sent'], 0, 'forgotten, but counted'],
    [{ triedAtMs: NOW_MS - 23 * HOUR_MS - 1 }, 4, ['sent'], 1, 'forgotten, and not counted'],
    [{ hourMs: NOW_MS - (35 * 24 - 1) * HOUR_MS }, 0, ['sent'], 1, 'the oldest that Stripe takes'],
    [{ hourMs: NOW_MS - 35 * 24 * HOUR_MS }, 0, ['lost'], 0, 'too old'],
  ]
  for (const [report, counted, ends, events, why] of rows) {
    const sent = await send({ report, counted })
    t.deepEqual([sent.ends, sent.events.length], [ends, events], why)
  }
  t.deepEqual((await send({ customerId: null })).ends, ['lost'])
})

test('recharge: the card, the amount in cents, and which refusals are final', async (t) => {
  interface Case {
    recharge?: Partial<PendingRecharge>
    error?: Error
    customer?: object
    subscriptions?: object[]
    methods?: object[]
    earlier?: object[]
    nowMs?: number
  }
  const run = async (one: Case) => {
    const { recharge = {}, error, nowMs = 0, customer = {}, subscriptions = [], methods = [], earlier = [] } = one
    const ends: object[] = []
    const charges: [parameters: object, options: object][] = []
    const lists: object[] = []
    const base = { id: 'r', accountId: 'u', credits: 500_000, createdAtMs: 0, customerId: null, paymentMethodId: null }
    const store = {
      belowThreshold: async () => [],
      takeStaleRecharges: async () => [{ ...base, ...recharge }],
      customer: async () => ({ customerId: 'cus_1' }),
      fixRecharge: async (_: string, means: object) => means,
      endRecharge: async (end: object) => ends.push(end),
    }
    const stripe = {
      customers: {
        retrieve: async () => ({ invoice_settings: { default_payment_method: null }, ...customer }),
        listPaymentMethods: async () => ({ data: methods }),
      },
      subscriptions: { list: async () => ({ data: subscriptions }) },
      paymentIntents: {
        create: async (parameters: { metadata: object }, options: object) => {
          charges.push([parameters, options])
          if (error !== undefined) throw error
          return { ...parameters, status: 'succeeded' }
        },
        list: (query: object) => {
          lists.push(query)
          return (async function* () {
            yield* earlier
          })()
        },
      },
    }
    await rechargeAll(partsOf({ store, stripe, nowMs }), () => 'r')
    return { ends, charges, lists }
  }
  const card = { recharge: { customerId: 'cus_1', paymentMethodId: 'pm_1' } }
  const { ends, charges } = await run(card)
  t.like(charges[0], [{ amount: 500, customer: 'cus_1', payment_method: 'pm_1', off_session: true, confirm: true }])
  t.like(charges[0]?.[1], { idempotencyKey: 'recharge:r' })
  t.like(ends, [{ id: 'r', accountId: 'u', credits: 500_000, outcome: 'succeeded' }])
  const methodOf = async (one: Case) => {
    const { charges, ends } = await run(one)
    return (charges[0]?.[0] as { payment_method?: string } | undefined)?.payment_method ?? ends // safe: its parameters
  }
  const found = { subscriptions: [{ default_payment_method: null }, { default_payment_method: { id: 'pm_s' } }] }
  const methods = [{ id: 'pm_l' }]
  t.is(
    await methodOf({ customer: { invoice_settings: { default_payment_method: 'pm_d' } }, ...found, methods }),
    'pm_d',
  )
  t.is(await methodOf({ ...found, methods }), 'pm_s')
  t.is(await methodOf({ methods }), 'pm_l')
  t.like(await methodOf({}), [{ outcome: 'failed', reason: 'no_payment_method' }])
  t.like(await methodOf({ customer: { deleted: true }, methods }), [{ reason: 'no_payment_method' }])
  const refusals: [error: Error, reason: string | undefined][] = [
    [fault('StripeCardError', { decline_code: 'insufficient_funds', code: 'card_declined' }), 'insufficient_funds'],
    [fault('StripeCardError', { code: 'expired_card' }), 'expired_card'],
    [fault('StripeCardError'), 'card_declined'],
    [fault('StripeInvalidRequestError'), 'payment_method_unusable'],
    [fault('StripeConnectionError', { code: 'x' }), undefined],
    [fault('StripeRateLimitError'), undefined],
    [new Error('x'), undefined],
  ]
  for (const [error, reason] of refusals) {
    const { ends } = await run({ ...card, error })
    if (reason === undefined) t.deepEqual(ends, [], error.name)
    else t.like(ends, [{ outcome: 'failed', reason }])
  }
  const earlier = [
    { metadata: { recharge_id: 'x' } },
    { metadata: { recharge_id: 'r', user_id: 'u', credits: '500000' }, status: 'succeeded' },
  ]
  const atLimit = await run({ ...card, earlier, nowMs: 23 * HOUR_MS })
  t.deepEqual([atLimit.charges.length, atLimit.lists.length], [1, 0], 'the key still lasts')
  const late = await run({ recharge: { ...card.recharge, createdAtMs: 7_200_000 }, earlier, nowMs: 25 * HOUR_MS + 1 })
  t.deepEqual([late.charges.length, late.ends.length], [0, 1], 'charged before: not again')
  t.like(late.lists, [{ customer: 'cus_1', created: { gte: 3600 } }])
  t.is((await run({ ...card, nowMs: 24 * HOUR_MS })).charges.length, 1, 'not found: charged now')
})

test('Stripe client: one, at the configured address', async (t) => {
  const placeOf = async (apiBase: string | undefined) => {
    const client = await createStripeClient({ secretKey: 'sk_test_1', apiBase })()
    const { host, port, protocol } = {
      host: client.getApiField('host'),
      port: client.getApiField('port'),
      protocol: client.getApiField('protocol'),
    }
    return `${protocol}://${host}:${port}`
  }
  t.is(await placeOf('http://127.0.0.1:12111'), 'http://127.0.0.1:12111')
  t.is(await placeOf('https://stripe.example'), 'https://stripe.example:443')
  t.is(await placeOf('http://stripe.example'), 'http://stripe.example:80')
  t.is(await placeOf(undefined), 'https://api.stripe.com:443')
})
