import type Stripe from 'stripe'
import type { PaidTier } from '../../core/ports/billing.ts'
import { type BillingParts, idOf, stripeOf } from './parts.ts'
import { creditsFor, type PlanPrice, type PriceReader, planPriceOf } from './plan-prices.ts'
import { tierOfPrice, toTier } from './subscriptions.ts'

/**
 * DESIGN — credits of a paid invoice
 *
 *   a line of a plan's period   its cost after discounts ÷ the plan's list price × the plan's credits    → `credits`
 *   a proration, ±              the same, signed                                                         → `proratedCredits`
 *   another line                nothing
 *
 * Prorations pay for the rest of a period on another plan. They grant no credits; those that return more money than others
 * have charged, over all invoices of an account, remove credits (`stores/sql/billing/prorations.ts`). So what an account
 * has received never exceeds what it has paid for at the list price. An invoice whose plan lines cost something and whose
 * other lines make the total zero or less grants nothing. Where returned prorations alone do that, its period is paid for
 * with the returned money and grants its credits: plans have different rates, so the credits may come to more than zero.
 */

/** Above Stripe's own limit of lines per invoice; more indicate a fault. */
const MOST_LINES = 10_000

/** Credits of a paid invoice. */
export interface InvoiceCredits {
  /** For lines of a plan's period; never negative. */
  readonly credits: number
  /** Credits of its prorations, charged (positive) or returned (negative). */
  readonly proratedCredits: number
  /** The plan of a free trial that the invoice begins. */
  readonly trialOf: PaidTier | undefined
}

/** Computes a paid invoice's credits from all its lines; `undefined` when none of them is of a plan. */
export async function creditsOfInvoice(
  parts: BillingParts,
  invoice: Stripe.Invoice,
  prices: PriceReader,
): Promise<InvoiceCredits | undefined> {
  const lines = await planLinesOf(parts, invoice, prices)
  if (lines.length === 0) return undefined
  const worthOf = (chosen: readonly PlanLine[]) =>
    chosen.reduce((sum, { cents, price }) => sum + creditsFor(cents, parts.settings.credits[price.tier], price), 0)
  const credits = worthOf(lines.filter(({ isProration }) => !isProration))
  const proratedCredits = worthOf(lines.filter(({ isProration }) => isProration))
  const trial = lines.find(({ isTrial }) => isTrial)
  const planCents = lines.reduce((sum, { cents }) => sum + cents, 0)
  const isWaived = invoice.total <= 0 && planCents > 0
  const given = isWaived ? { credits: 0, proratedCredits: Math.min(0, proratedCredits) } : { credits, proratedCredits }
  return { ...given, trialOf: invoice.billing_reason === 'subscription_create' ? trial?.price.tier : undefined }
}

/** A line of a plan. */
interface PlanLine {
  readonly price: PlanPrice
  readonly isProration: boolean
  /** Free although its price is not, before any discount. */
  readonly isTrial: boolean
  /** Its cost after discounts. */
  readonly cents: number
}

async function planLinesOf(
  parts: BillingParts,
  invoice: Stripe.Invoice,
  prices: PriceReader,
): Promise<readonly PlanLine[]> {
  const priced: { line: Stripe.InvoiceLineItem; price: Stripe.Price }[] = []
  for (const line of await linesOf(parts, invoice)) {
    const id = idOf(line.pricing?.price_details?.price)
    if (id !== undefined && isOfSubscription(line)) priced.push({ line, price: await prices.read(id) })
  }
  const isKnown = priced.some(({ price }) => tierOfPrice(parts.settings, price) !== undefined)
  const otherwise = isKnown ? undefined : toTier(invoice.parent?.subscription_details?.metadata?.tier)
  return priced.flatMap(({ line, price }) => {
    const plan = planPriceOf(parts.settings, price, { currency: line.currency, otherwise })
    return plan === undefined ? [] : [toPlanLine(line, plan)]
  })
}

/** Returns all lines: the invoice itself contains the first few. */
async function linesOf(parts: BillingParts, { id, lines }: Stripe.Invoice): Promise<readonly Stripe.InvoiceLineItem[]> {
  if (!lines.has_more) return lines.data
  const stripe = await stripeOf(parts)
  return stripe.invoices.listLineItems(id, { limit: 100 }).autoPagingToArray({ limit: MOST_LINES })
}

/** Returns true for a period or a proration of a subscription; false for an item that was added by hand. */
function isOfSubscription(line: Stripe.InvoiceLineItem): boolean {
  return line.parent?.type === 'subscription_item_details' || isProrated(line)
}

function isProrated({ parent }: Stripe.InvoiceLineItem): boolean {
  return (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true
}

function toPlanLine(line: Stripe.InvoiceLineItem, price: PlanPrice): PlanLine {
  const isProration = isProrated(line)
  const discounts = (line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0)
  const cents = line.subtotal - discounts
  const isTrial = !isProration && line.subtotal === 0 && line.quantity !== 0
  return { price, isProration, isTrial, cents: isProration ? cents : Math.max(0, cents) }
}
