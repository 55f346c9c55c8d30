import { verify } from 'node:crypto'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { ReceiptSignature, SignedReceipt } from '../../core/telemetry/receipt.ts'
import type { PublicReceiptKey } from './public-key.ts'

/** A receipt of version 1, which has a signature of its own. */
export type ReceiptV1 = SignedReceipt & { readonly key_id: string; readonly signature: ReceiptSignature }

/** Returns true when this key's signature covers every other member of the receipt. */
export function isSignedBy({ signature, ...receipt }: ReceiptV1, { key }: PublicReceiptKey): boolean {
  const value = Buffer.from(signature.value, 'base64url')
  // The decoder accepts non-canonical base64url; exactly one text is valid for a signature.
  if (value.toString('base64url') !== signature.value) return false
  return verify(null, Buffer.from(canonicalJson(receipt)), key, value)
}
