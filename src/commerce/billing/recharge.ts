import type Stripe from 'stripe'
import { CREDITS_PER_CENT, type PendingRecharge } from '../../core/ports/billing.ts'
import { faultFields, isStripeFault } from './errors.ts'
import { type BillingParts, idOf, stripeOf } from './parts.ts'
import { applyIntent } from './recharge-end.ts'

/**
 * DESIGN — recharging
 *
 *   credits < threshold ─▶ claim (one transaction, one winner) ─▶ fix customer and card ─▶ Stripe, key `recharge:<id>`
 *                                                                                           │
 *                          credits granted ◀─ end, once ◀── the reply, or a webhook, whichever comes first
 *
 * A process that dies after the claim leaves it pending; another one resumes it a minute later and sends the same
 * key with the same parameters, so Stripe charges once. Keys expire after a day: an older claim is looked up first.
 * A decline ends the recharge and turns auto-recharge off: nothing is retried until the owner turns it on again.
 */
const KEY_LASTS_MS = 23 * 60 * 60 * 1000
const HOUR_S = 3600

/** Finds accounts below their threshold and recharges them; then resumes abandoned claims. */
export async function rechargeAll(parts: BillingParts, randomId: () => string): Promise<void> {
  for (const accountId of await parts.store.belowThreshold()) {
    const recharge = await parts.store.claimRecharge({ accountId, rechargeId: randomId() })
    if (recharge !== undefined) await drive(parts, recharge)
  }
  for (const recharge of await parts.store.takeStaleRecharges()) await drive(parts, recharge)
}

/** Completes a claimed recharge, if its outcome is known; otherwise a later round retries it. */
async function drive(parts: BillingParts, recharge: PendingRecharge): Promise<void> {
  const { id, accountId } = recharge
  try {
    const isOld = parts.clock.nowMs() - recharge.createdAtMs > KEY_LASTS_MS
    const intent = (isOld ? await findIntent(parts, recharge) : undefined) ?? (await charge(parts, recharge))
    if (intent === undefined) return
    await applyIntent(parts, intent)
    parts.log.info({ recharge: id, accountId, status: intent.status }, 'recharge.called')
  } catch (error) {
    const reason = refusalOf(error)
    const event = reason === undefined ? 'recharge.postponed' : 'recharge.refused'
    parts.log.warn({ recharge: id, accountId, reason, ...faultFields(error) }, event)
    if (reason !== undefined) await fail(parts, recharge, reason)
  }
}

async function charge(parts: BillingParts, recharge: PendingRecharge): Promise<Stripe.PaymentIntent | undefined> {
  const { id, accountId, credits } = recharge
  const means = await meansOf(parts, recharge)
  if (means === undefined) {
    parts.log.warn({ recharge: id, accountId }, 'recharge.no-payment-method')
    await fail(parts, recharge, 'no_payment_method')
    return undefined
  }
  const stripe = await stripeOf(parts)
  return stripe.paymentIntents.create(
    {
      amount: Math.ceil(credits / CREDITS_PER_CENT),
      currency: 'usd',
      customer: means.customerId,
      payment_method: means.paymentMethodId,
      off_session: true,
      confirm: true,
      description: 'Credits',
      metadata: { recharge_id: id, user_id: accountId, credits: String(credits) },
    },
    { idempotencyKey: `recharge:${id}` },
  )
}

/** Returns the customer and card to charge: fixed by the first try, since a retry must be the same request. */
async function meansOf(
  parts: BillingParts,
  { id, accountId, customerId: fixedCustomer, paymentMethodId: fixedMethod }: PendingRecharge,
): Promise<{ customerId: string; paymentMethodId: string } | undefined> {
  if (fixedCustomer !== null && fixedMethod !== null) {
    return { customerId: fixedCustomer, paymentMethodId: fixedMethod }
  }
  const { customerId } = await parts.store.customer(accountId)
  const paymentMethodId = customerId === null ? undefined : await findMethod(parts, customerId)
  if (customerId === null || paymentMethodId === undefined) return undefined
  return parts.store.fixRecharge(id, { customerId, paymentMethodId })
}

/** Returns the customer's default card, that of the subscription, or the newest. */
async function findMethod(parts: BillingParts, customerId: string): Promise<string | undefined> {
  const stripe = await stripeOf(parts)
  const customer = await stripe.customers.retrieve(customerId)
  if (customer.deleted) return undefined
  const chosen = idOf(customer.invoice_settings.default_payment_method)
  if (chosen !== undefined) return chosen
  const { data: subscriptions } = await stripe.subscriptions.list({ customer: customerId, limit: 10 })
  for (const { default_payment_method: method } of subscriptions) {
    const id = idOf(method)
    if (id !== undefined) return id
  }
  const { data: methods } = await stripe.customers.listPaymentMethods(customerId, { limit: 1 })
  return methods[0]?.id
}

/** Finds the intent of a recharge whose key Stripe may have expired. */
async function findIntent(
  parts: BillingParts,
  { id, customerId, createdAtMs }: PendingRecharge,
): Promise<Stripe.PaymentIntent | undefined> {
  // Without a customer no request can have been sent.
  if (customerId === null) return undefined
  const stripe = await stripeOf(parts)
  const created = { gte: Math.floor(createdAtMs / 1000) - HOUR_S }
  for await (const intent of stripe.paymentIntents.list({ customer: customerId, created, limit: 100 })) {
    if (intent.metadata.recharge_id === id) return intent
  }
  return undefined
}

/** Returns the reason when Stripe will never charge this; `undefined` when a retry may succeed. */
function refusalOf(error: unknown): string | undefined {
  if (!isStripeFault(error)) return undefined
  const { type, code, decline_code: decline } = error
  if (type === 'StripeCardError') return decline ?? code ?? 'card_declined'
  return type === 'StripeInvalidRequestError' ? (code ?? 'payment_method_unusable') : undefined
}

function fail({ store }: BillingParts, { id, accountId, credits }: PendingRecharge, reason: string): Promise<void> {
  return store.endRecharge({ id, accountId, credits, outcome: 'failed', reason })
}
