import type { z } from 'zod'
import { ScanError } from '../../core/json/scan.ts'
import type { SignedReceipt } from '../../core/telemetry/receipt.ts'
import { checkInclusion, type ReceiptV2 } from './inclusion.ts'
import type { PublicReceiptKey } from './public-key.ts'
import { hasRepeatedNames } from './repeated-names.ts'
import { receiptSchema } from './schema.ts'
import { isSignedBy, type ReceiptV1 } from './signature.ts'

/** Result of one check. */
export interface Check {
  readonly name: 'form' | 'key' | 'signature' | 'inclusion'
  readonly ok: boolean
  /** The result as a sentence. */
  readonly says: string
}

/** Result of checking a receipt: valid when all checks are `ok`. Checks that could not run are left out. */
export interface Verdict {
  readonly isValid: boolean
  readonly checks: readonly Check[]
  /** The receipt, as far as it could be read. */
  readonly receipt: SignedReceipt | undefined
}

/** Thrown for a text that is not a receipt. */
export class NoReceipt extends Error {}

const FORMS = {
  1: 'It is a receipt of version 1, which is not in any ledger.',
  2: 'It is a receipt of version 2.',
}

/** Verifies the text of a receipt against public keys, without a network. Throws `NoReceipt` when it is no JSON object. */
export function verifyReceipt(text: string, keys: readonly PublicReceiptKey[]): Verdict {
  const value = parse(text)
  const parsed = receiptSchema.safeParse(value)
  if (!parsed.success) return verdict([{ name: 'form', ok: false, says: wordsOf(parsed.error) }])
  const form: Check = { name: 'form', ok: true, says: FORMS[parsed.data.v] }
  // The parsed value, not the schema's copy, which leaves out a member called `__proto__`.
  // Safe: the schema has checked the members of its version; others are only displayed.
  const receipt = value as ReceiptV1 | ReceiptV2
  const checks = isOfLedger(receipt) ? checkInclusion(receipt, keys) : checkSignature(receipt, keys)
  return verdict([form, ...checks], receipt)
}

function isOfLedger(receipt: ReceiptV1 | ReceiptV2): receipt is ReceiptV2 {
  return receipt.v === 2
}

function checkSignature(receipt: ReceiptV1, keys: readonly PublicReceiptKey[]): Check[] {
  const key = keys.find(({ id }) => id === receipt.key_id && id === receipt.signature.key)
  if (key === undefined) return [unknownKey(receipt, keys)]
  return [{ name: 'key', ok: true, says: `Its key ${key.id} is the one given.` }, signed(receipt, key)]
}

function verdict(checks: readonly Check[], receipt?: SignedReceipt): Verdict {
  return { isValid: checks.every(({ ok }) => ok), checks, receipt }
}

/** Parses the text and refuses repeated names: readers differ in which one they take, so such a text proves nothing. */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new NoReceipt('it is no JSON object.')
    if (hasRepeatedNames(text)) throw new NoReceipt('it repeats a name.')
    return value
  } catch (cause) {
    if (cause instanceof NoReceipt) throw cause
    if (cause instanceof SyntaxError || cause instanceof ScanError || cause instanceof RangeError)
      throw new NoReceipt('it is not JSON.', { cause })
    throw cause
  }
}

function wordsOf({ issues }: z.ZodError): string {
  const [first] = issues
  return `It does not have the form of a receipt: \`${first?.path.join('.')}\`: ${first?.message}.`
}

function unknownKey({ key_id, signature }: ReceiptV1, keys: readonly PublicReceiptKey[]): Check {
  const given = keys.map(({ id }) => id).join(', ')
  const says =
    key_id === signature.key
      ? `Its key is ${key_id}, and the given key is ${given}.`
      : `It names two keys, ${key_id} and ${signature.key}.`
  return { name: 'key', ok: false, says }
}

function signed(receipt: ReceiptV1, key: PublicReceiptKey): Check {
  const ok = isSigned(receipt, key)
  return {
    name: 'signature',
    ok,
    says: ok ? 'The signature matches all other members.' : 'The signature does not match the other members.',
  }
}

/** Returns false for a value without a canonical form: it was never signed. */
function isSigned(receipt: ReceiptV1, key: PublicReceiptKey): boolean {
  try {
    return isSignedBy(receipt, key)
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
