import { hash } from 'node:crypto'
import { FREE_LEFT_CALLS, methodOfPayment, type PaymentStore, type SettledPayment } from '../../core/ports/payments.ts'
import type { Readiness } from './readiness.ts'

/** Contents of the discovery document. */
export interface Discovery {
  readonly realm: string
  readonly readiness: () => Promise<Readiness>
  readonly amountCents: number
  readonly store: Pick<PaymentStore, 'listSettled'>
}

const CENTS = 100

/** Builds the document of `/.well-known/mpp` (specification, 2.8), for these paid routes. */
export function discoveryDocument(
  { realm, amountCents }: Discovery,
  { readiness, paths }: { readiness: Readiness; paths: readonly string[] },
): object {
  return {
    spec_version: '0.1',
    realm,
    payment_methods: [{ method: 'stripe', wallet_provider: 'link', currency: 'usd', status: readiness }],
    routes: paths.map((path) => ({
      path,
      method: 'POST',
      price_usd_per_call: amountCents / CENTS,
      category: 'llm-generation',
    })),
    capabilities: {
      idempotency: true,
      refunds: false,
      receipts: 'header',
      content_digest: 'sha-256',
      ledger_public: true,
    },
    terms: TERMS,
  }
}

/** Terms of a payment; the quote includes them as well. */
export const TERMS = {
  left_calls_given_back: FREE_LEFT_CALLS,
  cached_session_calls: 'not_counted',
  description: `A call whose client disconnects after the provider was called is given back ${FREE_LEFT_CALLS} times for each challenge and each session; further ones count as delivered. A reply from a cache to an earlier call of the same session does not use up a call of it.`,
} as const

/** Converts a payment to an entry of the public ledger: nothing about the payer, and only a digest of the payment's id. */
export function ledgerEntry({ capturedAtMs, amountCents, currency, reference, model, route, state }: SettledPayment) {
  return {
    settled_at: new Date(capturedAtMs).toISOString(),
    amount: String(amountCents),
    currency,
    method: methodOfPayment(reference),
    route,
    model,
    reference_sha256: hash('sha256', reference, 'hex'),
    status: state === 'consumed' ? 'delivered' : 'captured',
  }
}
