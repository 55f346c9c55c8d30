import { sign, verify } from 'node:crypto'
import type { Receipt, SignedReceipt } from '../core/receipt.ts'
import { canonicalJson } from './canonical-json.ts'
import type { PublicReceiptKey } from './public-key.ts'
import type { ReceiptKey } from './signing-key.ts'

/** Signs a receipt, off the main thread. */
export function signReceipt(receipt: Receipt, { privateKey, public: { id } }: ReceiptKey): Promise<SignedReceipt> {
  const bytes = Buffer.from(canonicalJson(receipt))
  return new Promise((resolve, reject) => {
    // Ed25519 hashes by itself: no digest is named.
    sign(null, bytes, privateKey, (error, signature) => {
      if (error !== null) reject(error)
      else resolve({ ...receipt, signature: { alg: 'Ed25519', key: id, value: signature.toString('base64url') } })
    })
  })
}

/** Whether the signature is that of this key over everything else in the receipt. */
export function isSignedBy({ signature, ...receipt }: SignedReceipt, { key }: PublicReceiptKey): boolean {
  const value = Buffer.from(signature.value, 'base64url')
  // The decoder takes much for base64url; one signature has one text only.
  if (value.toString('base64url') !== signature.value) return false
  return verify(null, Buffer.from(canonicalJson(receipt)), key, value)
}
