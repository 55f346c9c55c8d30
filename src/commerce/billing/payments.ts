import type Stripe from 'stripe'
import { accountOf } from './customers.ts'
import { creditsOfInvoice } from './invoice-credits.ts'
import { type BillingParts, idOf, stripeOf } from './parts.ts'
import { PriceReader } from './plan-prices.ts'
import { refreshRecharge } from './recharge-end.ts'

/** Disputes that withhold the money, temporarily or for good. Inquiries (`warning_…`) do not. */
const HELD_DISPUTES = new Set(['needs_response', 'under_review', 'lost'])

/** A paid invoice whose credits are recorded. */
interface EnteredInvoice {
  readonly paymentId: string
  /** Total with taxes. */
  readonly totalCents: number
}

/** Fetches an invoice and records its credits if it is paid. Resolves with the payment, if it is one for a plan. */
export async function refreshInvoice(
  parts: BillingParts,
  id: string,
  eventId?: string,
): Promise<EnteredInvoice | undefined> {
  const stripe = await stripeOf(parts)
  return applyInvoice(parts, await stripe.invoices.retrieve(id), { prices: new PriceReader(stripe), eventId })
}

/** Records the credits of a fetched invoice if it is paid: that is final, so no later fetch differs. */
export async function applyInvoice(
  parts: BillingParts,
  invoice: Stripe.Invoice,
  { prices, eventId }: { prices: PriceReader; eventId?: string | undefined },
): Promise<EnteredInvoice | undefined> {
  if (invoice.status !== 'paid') return undefined
  const worth = await creditsOfInvoice(parts, invoice, prices)
  if (worth === undefined) return undefined
  const metadata = invoice.parent?.subscription_details?.metadata
  const accountId = await accountOf(parts, idOf(invoice.customer), metadata)
  if (accountId === undefined) return undefined
  const { credits, proratedCredits, trialOf } = worth
  const paymentId = `invoice:${invoice.id}`
  await parts.store.applyPayment({ paymentId, accountId, credits, proratedCredits }, eventId)
  const trialCredits = trialOf === undefined ? 0 : parts.settings.trialCredits
  if (trialCredits > 0)
    await parts.store.applyPayment({
      paymentId: `trial:${accountId}`,
      accountId,
      credits: trialCredits,
      proratedCredits: 0,
    })
  return { paymentId, totalCents: invoice.total }
}

/** Fetches a charge with its refunds and disputes, and adjusts the credits of its payment. */
export async function refreshCharge(parts: BillingParts, id: string, eventId?: string): Promise<void> {
  const stripe = await stripeOf(parts)
  const ticket = await parts.store.takeTicket()
  const charge = await stripe.charges.retrieve(id)
  const intent = idOf(charge.payment_intent)
  if (intent === undefined) return
  // The payment is recorded first, in whatever order the events came.
  const recharge = await refreshRecharge(parts, intent)
  const payment =
    recharge === undefined ? await refreshInvoiceOf(parts, intent) : { paymentId: recharge, totalCents: 0 }
  if (payment === undefined) return
  const disputes = charge.disputed ? (await stripe.disputes.list({ charge: id, limit: 100 })).data : []
  const held = disputes.filter(({ status }) => HELD_DISPUTES.has(status))
  const gone = charge.amount_refunded + held.reduce((sum, { amount }) => sum + amount, 0)
  // A customer's balance may have paid the rest of an invoice.
  const share = Math.min(1, gone / Math.max(charge.amount, payment.totalCents))
  const reversal = { paymentId: payment.paymentId, share, isDisputed: disputes.length > 0 }
  await parts.store.applyReversal(reversal, { ticket, eventId })
}

/** Refreshes the invoice of a payment intent, and its credits. */
async function refreshInvoiceOf(parts: BillingParts, intent: string): Promise<EnteredInvoice | undefined> {
  const stripe = await stripeOf(parts)
  const payment = { type: 'payment_intent', payment_intent: intent }
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1 })
  const invoice = idOf(data[0]?.invoice)
  return invoice === undefined ? undefined : refreshInvoice(parts, invoice)
}
