import { hash } from 'node:crypto'
import type { PaymentStore, SettledPayment } from '../core/payments.ts'
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
  }
}

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
