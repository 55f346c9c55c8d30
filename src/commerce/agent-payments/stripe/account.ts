import type Stripe from 'stripe'
import type { Readiness } from '../readiness.ts'
import { typeOf } from './gateway.ts'

const PATIENCE_MS = 3000
const LIVE_KEY = /^[sr]k_live_/

/** Queries Stripe whether the account of this key can charge. Rejects when Stripe does not reply. */
export async function readinessOfAccount(stripe: Stripe, secretKey: string): Promise<Readiness> {
  const byKey = LIVE_KEY.test(secretKey) ? 'production_live' : 'test_mode'
  try {
    const account = await stripe.accounts.retrieveCurrent({}, { timeout: PATIENCE_MS, maxNetworkRetries: 0 })
    return account.charges_enabled ? byKey : 'not_configured'
  } catch (error) {
    if (typeOf(error) === 'StripeAuthenticationError') return 'not_configured'
    // A restricted key may lack access to its account: it is genuine nevertheless.
    if (typeOf(error) === 'StripePermissionError') return byKey
    throw new Error(typeOf(error))
  }
}
