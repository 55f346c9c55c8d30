import { printPaymentReceipt } from '../commerce/agent-payments/codecs/payment-receipt.ts'
import type { Payable } from '../commerce/agent-payments/open-payment.ts'
import { methodOfPayment } from '../core/ports/payments.ts'
import type { ReceiptSettlement } from '../core/telemetry/receipt.ts'

/** Headers of every reply that carries a payment's receipt. */
export const PRIVATE = { 'cache-control': 'private', 'x-accel-buffering': 'no' }

/** Prints the value of `Payment-Receipt`. */
export function paymentReceipt({ reference = '', externalId }: Payable, nowMs: number): string {
  const timestamp = new Date(nowMs).toISOString()
  return printPaymentReceipt({ method: 'stripe', reference, externalId, status: 'success', timestamp })
}

/** Returns the payment of a call for its receipt; `undefined` until the money is captured. */
export function paymentSettlement(
  { challengeId, reference, state }: Payable,
  amountCents: number,
): ReceiptSettlement | undefined {
  if (reference === undefined || state !== 'captured') return undefined
  const method = methodOfPayment(reference)
  return { method, challenge_id: challengeId, reference, amount_cents: amountCents, currency: 'usd' }
}
