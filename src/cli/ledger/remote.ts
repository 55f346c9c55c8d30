import { type Checkpoint, CheckpointError, decode, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import { isConsistent } from '../../core/ledger/proofs.ts'
import type { PublicReceiptKey } from '../../journal/receipts/public-key.ts'
import { CommandError } from '../exit-codes.ts'
import { noProof, RemoteLedger } from './remote-ledger.ts'

/** Heads to compare with those of a running gateway. */
export interface RemoteCheck {
  readonly url: string
  readonly kept: readonly Checkpoint[]
  readonly keys: readonly PublicReceiptKey[]
  readonly isJson: boolean
}

/** Verifies that a gateway's ledger continues the kept heads, by its own proofs; prints the result. Throws `CommandError`. */
export async function verifyRemote({ url, kept, keys, isJson }: RemoteCheck): Promise<void> {
  if (kept.length === 0) throw new CommandError(2, '--url compares the heads of --from: give at least one.')
  const ledger = new RemoteLedger(url)
  for (const head of kept) {
    const fault = await faultOf(head, ledger, keys)
    print({ isValid: fault === undefined, origin: head.origin, size: head.size, fault: fault ?? null }, isJson)
    if (fault !== undefined) process.exitCode = 1
  }
}

function print(
  result: { isValid: boolean; origin: string; size: number; fault: string | null },
  isJson: boolean,
): void {
  const words = result.isValid
    ? `Verified: ${result.origin} continues the kept head of ${result.size} receipts.`
    : `CHANGED: ${result.fault}`
  process.stdout.write(`${isJson ? JSON.stringify(result) : words}\n`)
}

async function faultOf(
  head: Checkpoint,
  ledger: RemoteLedger,
  keys: readonly PublicReceiptKey[],
): Promise<string | undefined> {
  const { size, origin, root } = head
  try {
    const proof = await ledger.proof(size)
    const note = proof === undefined ? await ledger.head() : proof.checkpoint
    if (note === null) return cutOff(size)
    const latest = parseCheckpoint(note)
    if (latest.origin !== origin) return `the gateway has another ledger, ${latest.origin}.`
    if (!(await isSigned(latest, ledger, keys))) return 'the latest head is not signed by a given key.'
    if (latest.size < size) return cutOff(size)
    // A proxy may hide the proofs.
    if (proof === undefined) throw noProof('/v1/ledger/consistency')
    const hashes = proof.hashes.map((hash) => decode(hash, HASH_BYTES))
    const given = { first: size, firstRoot: root, second: latest.size, secondRoot: latest.root, hashes }
    return isConsistent(given) ? undefined : `the first ${size} receipts are not those of the kept head.`
  } catch (error) {
    if (error instanceof CheckpointError) return `the gateway’s proof is malformed: ${error.message}`
    throw error
  }
}

const HASH_BYTES = 32

function cutOff(size: number): string {
  return `the ledger has fewer receipts than the kept head of ${size}: its end was cut off.`
}

/** Tests whether a given key has signed the head, or a key that a given one vouches for. */
async function isSigned(head: Checkpoint, ledger: RemoteLedger, keys: readonly PublicReceiptKey[]): Promise<boolean> {
  return signerOf(head, keys) !== undefined || signerOf(head, await ledger.withVouched(keys)) !== undefined
}
