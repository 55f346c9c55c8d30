import type Stripe from 'stripe'
import { type BillingParts, stripeOf } from './parts.ts'

/** Fetches a payment intent and ends its recharge. Resolves with the payment's id if it has succeeded. */
export async function refreshRecharge(
  parts: BillingParts,
  intent: string,
  eventId?: string,
): Promise<string | undefined> {
  const stripe = await stripeOf(parts)
  const fetched = await stripe.paymentIntents.retrieve(intent)
  await parts.onIntent?.(fetched)
  return applyIntent(parts, fetched, eventId)
}

/**
 * Ends the recharge of a fetched payment intent; ignores an intent of something else, or one still being processed.
 * Resolves with the payment's id if it has succeeded.
 */
export async function applyIntent(
  { store }: BillingParts,
  intent: Stripe.PaymentIntent,
  eventId?: string,
): Promise<string | undefined> {
  const { recharge_id: id, user_id: accountId, credits: text } = intent.metadata
  const credits = Number(text)
  if (id === undefined || accountId === undefined || !Number.isSafeInteger(credits) || credits <= 0) return undefined
  const outcome = outcomeOf(intent)
  if (outcome === undefined) return undefined
  await store.endRecharge({ id, accountId, credits, outcome, reason: reasonOf(intent) }, eventId)
  return outcome === 'succeeded' ? `recharge:${id}` : undefined
}

function outcomeOf({ status }: Stripe.PaymentIntent): 'succeeded' | 'failed' | undefined {
  if (status === 'succeeded') return 'succeeded'
  return status === 'processing' ? undefined : 'failed'
}

/** Returns the card's reason before the payment's: `insufficient_funds` is more specific than `card_declined`. */
function reasonOf({ status, last_payment_error: error }: Stripe.PaymentIntent): string {
  return error?.decline_code ?? error?.code ?? status
}
