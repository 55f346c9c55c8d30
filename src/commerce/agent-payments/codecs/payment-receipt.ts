import { toBase64url } from './base64url.ts'

/** Proof of a payment, for the payer (specification, 2.7). */
export interface PaymentReceipt {
  readonly method: 'stripe'
  /** The payment provider's id of the payment. */
  readonly reference: string
  /** The session of the call. */
  readonly externalId?: string | undefined
  readonly status: 'success'
  /** ISO 8601 in UTC. */
  readonly timestamp: string
}

/** Prints a receipt as the value of `Payment-Receipt`: JSON in base64url without padding. */
export function printPaymentReceipt(receipt: PaymentReceipt): string {
  return toBase64url(JSON.stringify(receipt))
}
