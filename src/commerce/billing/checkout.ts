import { GatewayError } from '../../core/errors.ts'
import type { PaidTier } from '../../core/ports/billing.ts'
import { ensureCustomer } from './customers.ts'
import { notConfigured } from './errors.ts'
import { type BillingParts, stripeOf } from './parts.ts'
import { refreshSubscriptionsOf } from './subscriptions.ts'

/** A plan to buy, and the return address. */
export interface CheckoutRequest {
  readonly accountId: string
  readonly tier: PaidTier
  readonly successUrl: string
  readonly cancelUrl: string
}

/** Opens a Stripe page that sells a plan. Throws `invalid_request` when the account has one. */
export async function checkOut(
  parts: BillingParts,
  { accountId, tier, successUrl, cancelUrl }: CheckoutRequest,
): Promise<{ url: string; sessionId: string }> {
  const stripe = await stripeOf(parts)
  const price = parts.settings.prices[tier]
  if (price === undefined) throw notConfigured(`This gateway does not sell \`${tier}\`: its operator has set no price.`)
  const customer = await ensureCustomer(parts, accountId)
  await assertNoPlan(parts, { accountId, customer })
  const { overagePrice } = parts.settings
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    client_reference_id: accountId,
    // A metered price takes no quantity.
    line_items: [{ price, quantity: 1 }, ...(overagePrice === undefined ? [] : [{ price: overagePrice }])],
    success_url: successUrl,
    cancel_url: cancelUrl,
    metadata: { user_id: accountId, tier },
    subscription_data: { metadata: { user_id: accountId, tier } },
    // Auto-recharge charges the saved card.
    saved_payment_method_options: { payment_method_save: 'enabled' },
  })
  if (session.url === null) throw new GatewayError('internal_error', 'The payment provider returned no address.')
  return { url: session.url, sessionId: session.id }
}

/** Prevents a second sale, also while the webhook of the first is still in flight. */
async function assertNoPlan(
  parts: BillingParts,
  { accountId, customer }: { accountId: string; customer: string },
): Promise<void> {
  if ((await parts.store.liveSubscriptions(accountId)).length === 0) await refreshSubscriptionsOf(parts, customer)
  if ((await parts.store.liveSubscriptions(accountId)).length === 0) return
  throw new GatewayError(
    'invalid_request',
    'You have a plan already: change or cancel it in the portal, POST /v1/billing/portal.',
  )
}

/** Opens Stripe's portal for a customer. Throws `invalid_request` when the account has never bought anything. */
export async function openPortal(
  parts: BillingParts,
  { accountId, returnUrl }: { accountId: string; returnUrl: string },
): Promise<{ url: string }> {
  const stripe = await stripeOf(parts)
  const { customerId } = await parts.store.customer(accountId)
  if (customerId === null)
    throw new GatewayError('invalid_request', 'You have bought nothing yet: start with POST /v1/billing/checkout.')
  const { portal } = parts.settings
  const { url } = await stripe.billingPortal.sessions.create({
    customer: customerId,
    return_url: returnUrl,
    ...(portal !== undefined && { configuration: portal }),
  })
  return { url }
}
