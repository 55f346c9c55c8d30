import { hash } from 'node:crypto'
import type { LoggedLeaf } from '../ports/receipt-log.ts'
import { decode } from './checkpoint.ts'
import { leafHash } from './merkle.ts'

/**
 * DESIGN — leaves of receipts
 *
 * A leaf is SHA-256(0x00 ‖ id ‖ 0x0A ‖ SHA-256(canonical JSON)). The ledger keeps the id and the inner hash of each leaf, so
 * that the tree covers the id after the receipt was deleted too. The id is the time at which a receipt may be deleted.
 */

const HASH_BYTES = 32

/** Returns the hash of a receipt's canonical JSON, base64. */
export function contentHash(json: string): string {
  return hash('sha256', json, 'base64')
}

/** Returns the hash of a leaf. Throws `CheckpointError` for a content that is no SHA-256 in base64. */
export function hashOfLeaf({ id, content }: LoggedLeaf): Buffer {
  // The content has a fixed length, so no two pairs of id and content have the same bytes.
  return leafHash(Buffer.concat([Buffer.from(`${id}\n`), decode(content, HASH_BYTES)]))
}
