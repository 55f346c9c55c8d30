import type { BillingParts } from '../../src/accounts/billing/parts.ts'
import { createStripeClient } from '../../src/accounts/billing/stripe-client.ts'
import { takeWebhook } from '../../src/accounts/billing/webhook.ts'
import { createBillingStore } from '../../src/stores/sql/billing/store.ts'
import type { SqlStore } from '../../src/stores/sql/store.ts'
import type { Place } from '../stores/sql/places.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { type StripeStandIn, signatureOf } from '../support/stripe/stand-in.ts'
import type { StripeEvent } from '../support/stripe/world.ts'

/** Credits of each plan in books of tests. */
export const CREDITS = { pro: 500_000, team: 2_000_000 } as const

/** Billing on a database, without a gateway. */
export interface Books {
  readonly place: Place
  readonly store: SqlStore
  /** Delivers one event as Stripe would; a failure is delivered again. */
  deliver(event: StripeEvent): Promise<void>
}

/** Opens billing on a place, with a stand-in for Stripe that sells at these prices. */
export async function openBooks(
  place: Place,
  { stripe, prices }: { stripe: StripeStandIn; prices: Readonly<Record<'pro' | 'team', string>> },
): Promise<Books> {
  const clock = { nowMs: () => Date.now() }
  const store = await place.open()
  const parts: BillingParts = {
    store: createBillingStore(store, clock),
    stripe: createStripeClient({ secretKey: stripe.key, apiBase: stripe.url }),
    settings: {
      webhookSecrets: [stripe.secret],
      prices,
      overagePrice: undefined,
      portal: undefined,
      credits: CREDITS,
      trialCredits: 0,
    },
    clock,
    log: createRecordingLog(),
  }
  return {
    place,
    store,
    deliver: (event) => {
      const body = Buffer.from(JSON.stringify(event))
      return takeWebhook(parts, { body, signature: signatureOf(body.toString(), { secret: stripe.secret }) })
    },
  }
}
