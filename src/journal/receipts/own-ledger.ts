import { CheckpointError, noteKey, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import type { ReceiptLog } from '../../core/ports/receipt-log.ts'
import type { KeyRing } from './key-ring.ts'
import { ReceiptKeyError } from './public-key.ts'

/**
 * Throws `ReceiptKeyError` when the latest head of the ledger is signed by a key that is not in the ring, so that this gateway
 * could store no receipt. A head that is damaged is found by `ledger verify`.
 */
export async function assertOwnLedger(log: Pick<ReceiptLog, 'state'>, { keys }: KeyRing): Promise<void> {
  const { checkpoint } = await log.state()
  if (checkpoint === undefined || isSignedBy(checkpoint, keys)) return
  throw new ReceiptKeyError(
    'The receipts in the database are signed by another key than `receipt-key.pem` in `data_dir`. Copy that key from a gateway that has it; or, to go on with this one, put the public half of the other into `data_dir` as `receipt-key.<name>.pem`.',
  )
}

function isSignedBy(checkpoint: string, keys: KeyRing['keys']): boolean {
  try {
    const known = keys.map(({ raw }) => noteKey(raw))
    return signerOf(parseCheckpoint(checkpoint), known) !== undefined
  } catch (error) {
    if (error instanceof CheckpointError) return true
    throw error
  }
}
