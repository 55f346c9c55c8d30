import type Stripe from 'stripe'
import type { FetchedPayment, PaidTier } from '../../core/billing.ts'
import { accountOf } from './customers.ts'
import { type BillingParts, idOf, stripeOf } from './parts.ts'
import { refreshRecharge } from './recharge-end.ts'
import { tierOfPriceId, toTier } from './subscriptions.ts'

/** Invoices that begin a period, and bring its credits. A change within a period brings none before the next. */
const PERIOD_REASONS = new Set(['subscription_create', 'subscription_cycle'])
/** Disputes in which the money is gone, for now or for good. Inquiries (`warning_…`) move none. */
const HELD_DISPUTES = new Set(['needs_response', 'under_review', 'lost'])

/** Fetches an invoice and gives its credits if it is paid. Resolves with the payment, if it is one. */
export async function refreshInvoice(
  parts: BillingParts,
  id: string,
  eventId?: string,
): Promise<FetchedPayment | undefined> {
  const stripe = await stripeOf(parts)
  return applyInvoice(parts, await stripe.invoices.retrieve(id), eventId)
}

/** Gives the credits of a fetched invoice if it is paid: that is final, so no later fetch says otherwise. */
export async function applyInvoice(
  parts: BillingParts,
  invoice: Stripe.Invoice,
  eventId?: string,
): Promise<FetchedPayment | undefined> {
  if (invoice.status !== 'paid' || !PERIOD_REASONS.has(invoice.billing_reason ?? '')) return undefined
  const details = invoice.parent?.subscription_details
  const accountId = await accountOf(parts, idOf(invoice.customer), details?.metadata)
  const tier = tierOfInvoice(parts, invoice) ?? toTier(details?.metadata?.tier)
  if (accountId === undefined || tier === undefined) return undefined
  const payment = { paymentId: `invoice:${invoice.id}`, accountId, credits: parts.settings.credits[tier] }
  await parts.store.applyPayment(payment, eventId)
  return payment
}

function tierOfInvoice({ settings }: BillingParts, { lines }: Stripe.Invoice): PaidTier | undefined {
  for (const { pricing } of lines.data) {
    const price = idOf(pricing?.price_details?.price)
    const tier = price === undefined ? undefined : tierOfPriceId(settings, price)
    if (tier !== undefined) return tier
  }
  return undefined
}

/** Fetches a charge with its refunds and disputes, and moves the credits of what it paid for accordingly. */
export async function refreshCharge(parts: BillingParts, id: string, eventId?: string): Promise<void> {
  const stripe = await stripeOf(parts)
  const ticket = await parts.store.takeTicket()
  const charge = await stripe.charges.retrieve(id)
  const intent = idOf(charge.payment_intent)
  if (intent === undefined) return
  // What was paid comes first, whichever event came first.
  const paymentId = (await refreshRecharge(parts, intent)) ?? (await refreshInvoiceOf(parts, intent))
  if (paymentId === undefined) return
  const disputes = charge.disputed ? (await stripe.disputes.list({ charge: id, limit: 100 })).data : []
  const held = disputes.filter(({ status }) => HELD_DISPUTES.has(status))
  const gone = charge.amount_refunded + held.reduce((sum, { amount }) => sum + amount, 0)
  const reversal = { paymentId, share: Math.min(1, gone / charge.amount), isDisputed: disputes.length > 0 }
  await parts.store.applyReversal(reversal, { ticket, eventId })
}

/** The invoice that a payment intent has paid, with its credits given. */
async function refreshInvoiceOf(parts: BillingParts, intent: string): Promise<string | undefined> {
  const stripe = await stripeOf(parts)
  const payment = { type: 'payment_intent', payment_intent: intent }
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1 })
  const invoice = idOf(data[0]?.invoice)
  return invoice === undefined ? undefined : (await refreshInvoice(parts, invoice))?.paymentId
}
