import { sign, verify } from 'node:crypto'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { Receipt, SignedReceipt } from '../../core/telemetry/receipt.ts'
import type { PublicReceiptKey } from './public-key.ts'
import type { ReceiptKey } from './signing-key.ts'

/**
 * Signs a receipt and returns its JSON. Takes about 35 µs on the calling thread; handing it to another thread would cost
 * more than that.
 */
export function signReceipt(receipt: Receipt, { privateKey, public: { id } }: ReceiptKey): string {
  const text = canonicalJson(receipt)
  // Ed25519 hashes internally: no digest is named.
  const value = sign(null, Buffer.from(text), privateKey).toString('base64url')
  const signature = JSON.stringify({ alg: 'Ed25519', key: id, value } satisfies SignedReceipt['signature'])
  return `${text.slice(0, -1)},"signature":${signature}}`
}

/** Returns true when this key's signature covers every other member of the receipt. */
export function isSignedBy({ signature, ...receipt }: SignedReceipt, { key }: PublicReceiptKey): boolean {
  const value = Buffer.from(signature.value, 'base64url')
  // The decoder accepts non-canonical base64url; exactly one text is valid for a signature.
  if (value.toString('base64url') !== signature.value) return false
  return verify(null, Buffer.from(canonicalJson(receipt)), key, value)
}
