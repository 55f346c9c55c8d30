import { canonicalJson } from '../../core/json/canonical-json.ts'
import { type Checkpoint, CheckpointError, decode, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import { isIncluded } from '../../core/ledger/proofs.ts'
import { contentHash, hashOfLeaf } from '../../core/ledger/receipt-leaf.ts'
import type { ReceiptProof, SignedReceipt } from '../../core/telemetry/receipt.ts'
import type { PublicReceiptKey } from './public-key.ts'
import type { Check } from './verify.ts'

/** A receipt of version 2, which is a leaf of the ledger. */
export type ReceiptV2 = SignedReceipt & { readonly proof: ReceiptProof }

/** Checks the signed head of a receipt's proof, and that the receipt is in its tree. */
export function checkInclusion(receipt: ReceiptV2, keys: readonly PublicReceiptKey[]): Check[] {
  const checkpoint = readCheckpoint(receipt.proof)
  if (checkpoint === undefined)
    return [{ name: 'signature', ok: false, says: 'Its checkpoint is not a signed tree head.' }]
  const key = signerOf(checkpoint, keys)
  const given = keys.map(({ id }) => id).join(', ')
  if (key === undefined)
    return [{ name: 'signature', ok: false, says: `No signature of its checkpoint is by a given key (${given}).` }]
  const head = `the head of ${checkpoint.size} receipts of ${checkpoint.origin}`
  return [
    { name: 'signature', ok: true, says: `The key ${key.id} has signed ${head}.` },
    isInTree(receipt, checkpoint)
      ? { name: 'inclusion', ok: true, says: `The receipt is number ${receipt.proof.leaf_index} of that ledger.` }
      : { name: 'inclusion', ok: false, says: `The receipt is not in ${head}.` },
  ]
}

function readCheckpoint({ checkpoint }: ReceiptProof): Checkpoint | undefined {
  try {
    return parseCheckpoint(checkpoint)
  } catch (error) {
    if (error instanceof CheckpointError) return undefined
    throw error
  }
}

/** Returns false for a value without a canonical form: it was never a leaf. */
function isInTree({ proof, ...receipt }: ReceiptV2, { size, root }: Checkpoint): boolean {
  try {
    const leaf = hashOfLeaf({ id: receipt.id, content: contentHash(canonicalJson(receipt)) })
    const hashes = proof.hashes.map((hash) => decode(hash))
    return isIncluded({ leaf, index: proof.leaf_index, size, hashes }, root)
  } catch (error) {
    if (error instanceof TypeError || error instanceof CheckpointError) return false
    throw error
  }
}
