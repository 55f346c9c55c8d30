import type Stripe from 'stripe'
import { TOKEN_VERSION, typeOf } from './gateway.ts'

const TTL_S = 300

/** Requests a Shared Payment Token from Stripe's test helper; with a test key only. Its errors do not quote the request. */
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
      // Stripe's message may contain a part of the key.
      throw new Error(typeOf(error))
    })
  const id = typeof granted === 'object' && granted !== null && 'id' in granted ? granted.id : undefined
  if (typeof id === 'string') return id
  throw new Error('Stripe granted no token')
}
