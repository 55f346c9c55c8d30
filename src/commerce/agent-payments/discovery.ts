import { hash } from 'node:crypto'
import { FREE_LEFT_CALLS, type PaymentStore, type SettledPayment } from '../../core/ports/payments.ts'
import type { Readiness } from './readiness.ts'

/** What is told of paying here. */
export interface Discovery {
  readonly realm: string
  readonly readiness: () => Promise<Readiness>
  readonly amountCents: number
  readonly store: Pick<PaymentStore, 'listSettled'>
}

const CENTS = 100

/** The document of `/.well-known/mpp` (specification, 2.8), for these paid routes. */
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

/** What else is agreed with a payment; the quote has it, too. */
export const TERMS = {
  left_calls_given_back: FREE_LEFT_CALLS,
  cached_session_calls: 'not_counted',
  description: `A call that its client leaves after the provider was asked is given back ${FREE_LEFT_CALLS} times for each challenge and each session; further ones count as delivered. An answer from a cache to an earlier call of the same session does not use up a call of it.`,
} as const

/** An entry of the public ledger: nothing about the payer, and of the payment's name only its digest. */
export function ledgerEntry({ capturedAtMs, amountCents, currency, reference, model, route, state }: SettledPayment) {
  return {
    settled_at: new Date(capturedAtMs).toISOString(),
    amount: String(amountCents),
    currency,
    method: 'stripe',
    route,
    model,
    reference_sha256: hash('sha256', reference, 'hex'),
    status: state === 'consumed' ? 'delivered' : 'captured',
  }
}
