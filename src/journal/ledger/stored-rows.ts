import { z } from 'zod'
import type { LoggedReceipt } from '../../core/ports/receipt-log.ts'
import type { SignedReceipt } from '../../core/telemetry/receipt.ts'
import type { PublicReceiptKey } from '../receipts/public-key.ts'
import { scopeHash } from '../receipts/scope-hash.ts'
import { NoReceipt, verifyReceipt } from '../receipts/verify.ts'

/** Returns the receipt if it is of version 1 and signed. */
export function signedAlone(json: string, keys: readonly PublicReceiptKey[]): SignedReceipt | undefined {
  try {
    const { isValid, receipt } = verifyReceipt(json, keys)
    return isValid && receipt?.v === 1 ? receipt : undefined
  } catch (error) {
    if (error instanceof NoReceipt) return undefined
    throw error
  }
}

/** Tests whether the columns beside a receipt are those of its JSON, which is a leaf. */
export function isOwnRow({ id, scope, createdAtMs, json }: LoggedReceipt): boolean {
  const { data } = rowMembers.safeParse(parseJson(json))
  const isScope = data?.scope_sha256 === scopeHash(id, scope)
  return data?.id === id && isScope && Date.parse(data.created_at) === createdAtMs
}

const rowMembers = z.object({ id: z.string(), created_at: z.string(), scope_sha256: z.string() })

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Tests whether a stored place is that of a leaf of the first `size`. */
export function isBelow(index: number, size: number): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < size
}
