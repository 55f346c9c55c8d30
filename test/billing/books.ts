import type { ExecutionContext } from 'ava'
import type { BillingParts } from '../../src/commerce/billing/parts.ts'
import { createStripeClient } from '../../src/commerce/billing/stripe-client.ts'
import { takeWebhook } from '../../src/commerce/billing/webhook.ts'
import { createBillingStore } from '../../src/stores/sql/billing/store.ts'
import { type MemoryDatabase, openInMemory, REAL } from '../stores/sql/memory.ts'
import type { Engine } from '../stores/sql/places.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { type StripeStandIn, signatureOf } from '../support/stripe/stand-in.ts'
import type { StripeEvent } from '../support/stripe/world.ts'

/** Credits of each plan in books of tests. */
export const CREDITS = { pro: 500_000, team: 2_000_000 } as const

/** A database: its commands, and statements past them. */
export type Ledger = Omit<MemoryDatabase, 'close'>

/** Opens an empty one. SQLite's is in memory: a property opens dozens, and each would have a thread to start. */
export async function openLedger(t: ExecutionContext, engine: Engine): Promise<Ledger> {
  if (engine.name === 'postgres') {
    const place = await engine.createPlace(t)
    const store = await place.open()
    return { run: store.run.bind(store), sql: place.sql }
  }
  const ledger = await openInMemory(REAL, Date.now)
  t.teardown(ledger.close)
  return ledger
}

/** Billing on a database, without a gateway. */
export interface Books {
  readonly ledger: Ledger
  /** Delivers one event as Stripe would; a failure is delivered again. */
  deliver(event: StripeEvent): Promise<void>
}

/** Opens billing on a database, with a stand-in for Stripe and these prices. */
export function openBooks(
  ledger: Ledger,
  { stripe, prices }: { stripe: StripeStandIn; prices: Readonly<Record<'pro' | 'team', string>> },
): Books {
  const clock = { nowMs: () => Date.now() }
  const parts: BillingParts = {
    store: createBillingStore(ledger, clock),
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
    ledger,
    deliver: (event) => {
      const body = Buffer.from(JSON.stringify(event))
      return takeWebhook(parts, { body, signature: signatureOf(body.toString(), { secret: stripe.secret }) })
    },
  }
}
