import type Stripe from 'stripe'
import type { BillingStore, PaidTier } from '../../core/ports/billing.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import { notConfigured } from './errors.ts'
import type { StripeClient } from './stripe-client.ts'

/** The operator's configuration; names as in the section `billing`. */
export interface BillingSettings {
  readonly webhookSecrets: readonly string[]
  readonly prices: Readonly<Partial<Record<PaidTier, string>>>
  /** Metered price of calls beyond the quota. */
  readonly overagePrice: string | undefined
  /** Configuration of the portal. */
  readonly portal: string | undefined
  /** Credits that a plan's list price buys. */
  readonly credits: Readonly<Record<PaidTier, number>>
  /** Credits of an account's first free trial. */
  readonly trialCredits: number
}

/** Dependencies of billing. */
export interface BillingParts {
  readonly store: BillingStore
  /** `undefined`: no key is configured. */
  readonly stripe: StripeClient | undefined
  readonly settings: BillingSettings
  /** Called with each fetched payment: it may be an agent's. */
  readonly onIntent?: ((intent: Stripe.PaymentIntent) => Promise<void>) | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Returns Stripe's client. Throws `not_configured`. */
export function stripeOf({ stripe }: Pick<BillingParts, 'stripe'>): ReturnType<StripeClient> {
  if (stripe === undefined)
    throw notConfigured('This gateway sells nothing: its operator has set no STRIPE_SECRET_KEY.')
  return stripe()
}

/** Returns the id of an object that Stripe sends either whole or by its id; `undefined` for none. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof reference === 'object' ? reference?.id : reference
}
