/**
 * DESIGN: summaries of conversations, sealed for the client that keeps them.
 *
 * A compaction replaces a conversation by one item that is opaque to the client, and is sent again with every later request.
 * The gateway stores nothing, so the item carries the summary itself: encrypted and authenticated with a key that only
 * gateways with the same key of receipts can derive, and bound to the caller.
 *
 *     turnpike-compaction: base64url( nonce 12 | AES-256-GCM(summary; additional data: caller) | tag 16 )
 *
 * Guarantees: an item of another caller, or a changed one, does not open. Limit: a summary of a million characters.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { derivedKey } from '../../../core/system/derived-key.ts'

/** Begins every sealed summary. */
export const SUMMARY_PREFIX = 'turnpike-compaction:'
/** Most characters of a summary. */
export const MOST_SUMMARY_CHARACTERS = 1_000_000

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** A character is at most 3 bytes, and 3 bytes are 4 characters of base64. */
const MOST_SEALED_CHARACTERS = 4 * MOST_SUMMARY_CHARACTERS + 100

/** Seals summaries for callers, and opens them. */
export interface SummarySeal {
  /** Returns the summary as encrypted content of this caller. */
  seal(summary: string, scope: string): string
  /** Returns the summary; `undefined` for content that was changed, or made for another caller or by another gateway. */
  open(sealed: string, scope: string): string | undefined
}

/** Creates the seal of the gateways with this private key; unset: of this process alone. */
export function createSummarySeal(privateKey?: KeyObject): SummarySeal {
  const key = derivedKey(privateKey, 'summaries of compactions')
  return {
    seal(summary, scope) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(scope))
      const body = Buffer.concat([nonce, cipher.update(summary, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return SUMMARY_PREFIX + body.toString('base64url')
    },
    open(sealed, scope) {
      if (!sealed.startsWith(SUMMARY_PREFIX) || sealed.length > MOST_SEALED_CHARACTERS) return undefined
      const body = Buffer.from(sealed.slice(SUMMARY_PREFIX.length), 'base64url')
      if (body.length < NONCE_BYTES + TAG_BYTES) return undefined
      const end = body.length - TAG_BYTES
      const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(scope)).setAuthTag(body.subarray(end))
      try {
        return decipher.update(body.subarray(NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
  }
}
