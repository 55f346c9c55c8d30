import type Stripe from 'stripe'
import { TOKEN_VERSION, typeOf } from './gateway.ts'

const TTL_S = 300

/** Has Stripe's test helper grant a Shared Payment Token; with a test key only. Throws an error without what was sent. */
export async function grantTestToken(
  stripe: Stripe,
  { amountCents, networkId, nowMs }: { amountCents: number; networkId: string; nowMs: number },
): Promise<string> {
  const parameters = {
    payment_method: 'pm_card_visa',
    usage_limits: { currency: 'usd', max_amount: amountCents, expires_at: Math.floor(nowMs / 1000) + TTL_S },
    seller_details: { network_id: networkId },
  }
  const path = '/v1/test_helpers/shared_payment/granted_tokens'
  const granted: unknown = await stripe
    .rawRequest('POST', path, parameters, { apiVersion: TOKEN_VERSION })
    .catch((error: unknown) => {
      // Stripe's own words may hold a part of the key.
      throw new Error(typeOf(error))
    })
  const id = typeof granted === 'object' && granted !== null && 'id' in granted ? granted.id : undefined
  if (typeof id === 'string') return id
  throw new Error('Stripe granted no token')
}
