import { randomUUID } from 'node:crypto'
import { createBilling } from '../commerce/billing/billing.ts'
import type { BillingParts, BillingSettings } from '../commerce/billing/parts.ts'
import type { ReturnAddresses } from '../commerce/billing/return-address.ts'
import { createStripeClient, type StripeClient } from '../commerce/billing/stripe-client.ts'
import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { Log } from '../core/ports/log.ts'
import type { BillingRouteParts } from '../http/routes/billing.ts'
import type { ReadSession } from '../http/session.ts'
import { createBillingStore } from '../stores/sql/billing/store.ts'
import type { SqlStore } from '../stores/sql/store.ts'

/** Input of `openBilling`. */
export interface BillingOptions {
  readonly config: Config
  readonly database: SqlStore
  readonly clock: Clock
  readonly log: Log
  readonly session: ReadSession
  /** Called with the payment intents of webhooks. */
  readonly onIntent: BillingParts['onIntent']
}

/** Billing of cloud mode, as its routes use it. */
export interface OpenBilling extends BillingRouteParts {
  close(): Promise<void>
}

/** Opens billing; called in cloud mode only. */
export function openBilling({ config, database, clock, log, session, onIntent }: BillingOptions): OpenBilling {
  const { recharge_interval: rechargeMs, meter_interval: meterMs } = config.billing
  const parts = { ...billingPartsOf({ config, database, clock, log }), onIntent }
  const billing = createBilling(parts, { times: { rechargeMs, meterMs }, randomId: randomUUID })
  return { billing, session, addresses: returnAddressesOf(config), close: () => billing.close() }
}

/** Creates the dependencies of billing from the configuration. */
export function billingPartsOf({
  config,
  database,
  clock,
  log,
}: Omit<BillingOptions, 'session' | 'onIntent'>): BillingParts {
  return {
    store: createBillingStore(database, clock),
    stripe: stripeClientOf(config),
    settings: billingSettingsOf(config),
    clock,
    log: log.child({ part: 'billing' }),
  }
}

/** Creates the configured Stripe client; `undefined` without a key. */
export function stripeClientOf({ billing }: Config): StripeClient | undefined {
  const { secret_key: secretKey, api_base: apiBase } = billing
  return secretKey === undefined ? undefined : createStripeClient({ secretKey, apiBase })
}

/** Returns the settings of billing. */
function billingSettingsOf({ billing }: Config): BillingSettings {
  const { price_pro: pro, price_team: team } = billing
  return {
    webhookSecrets: billing.webhook_secrets,
    prices: { ...(pro !== undefined && { pro }), ...(team !== undefined && { team }) },
    overagePrice: billing.price_overage,
    portal: billing.portal,
    credits: { pro: billing.credits_pro, team: billing.credits_team },
    trialCredits: billing.credits_trial,
  }
}

/** Returns the default return address of Stripe's pages, and the origins that requests may name instead. */
function returnAddressesOf({ server, billing }: Config): ReturnAddresses {
  const publicUrl = server.public_url
  // `/dashboard` redirects to the page of billing.
  const dashboardUrl = server.dashboard_url ?? (publicUrl && `${publicUrl.replace(/\/$/, '')}/dashboard`)
  return { dashboardUrl, allowedOrigins: billing.allowed_origins }
}
