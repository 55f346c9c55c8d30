import { type Checkpoint, CheckpointError, decode, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import { isConsistent } from '../../core/ledger/proofs.ts'
import type { PrefixProof } from '../../core/ports/receipt-log.ts'
import type { PublicReceiptKey } from '../../journal/receipts/public-key.ts'
import { CommandError } from '../exit-codes.ts'
import { messageIn, send } from '../remote/gateway.ts'

const PATIENCE_MS = 30_000
const NOT_FOUND = 404

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
  const base = url.replace(/\/+$/, '')
  for (const head of kept) {
    const fault = await faultOf(head, base, keys)
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

async function faultOf(head: Checkpoint, url: string, keys: readonly PublicReceiptKey[]): Promise<string | undefined> {
  const { size, origin, root } = head
  const proof = await fetchProof(url, size)
  if (proof === undefined) return `the ledger has fewer receipts than the kept head of ${size}: its end was cut off.`
  try {
    const latest = parseCheckpoint(proof.checkpoint)
    if (latest.origin !== origin) return `the gateway has another ledger, ${latest.origin}.`
    if (signerOf(latest, keys) === undefined) return 'the latest head is not signed by a given key.'
    const hashes = proof.hashes.map((hash) => decode(hash))
    const given = { first: size, firstRoot: root, second: latest.size, secondRoot: latest.root, hashes }
    return isConsistent(given) ? undefined : `the first ${size} receipts are not those of the kept head.`
  } catch (error) {
    if (error instanceof CheckpointError) return `the gateway’s proof is malformed: ${error.message}`
    throw error
  }
}

async function fetchProof(url: string, size: number): Promise<PrefixProof | undefined> {
  const path = `/v1/ledger/consistency?from=${size}`
  const reply = await send({ url, headers: {} }, path, { signal: AbortSignal.timeout(PATIENCE_MS) })
  if (reply.status === NOT_FOUND) return undefined
  const text = await reply.text()
  if (!reply.ok) throw new CommandError(1, `The gateway refuses (${reply.status}): ${messageIn(text)}`)
  return toProof(text)
}

function toProof(text: string): PrefixProof {
  const value: { hashes?: unknown; checkpoint?: unknown } = JSON.parse(text)
  const { hashes, checkpoint } = value
  if (!Array.isArray(hashes) || typeof checkpoint !== 'string')
    throw new CommandError(1, 'The gateway’s reply is not a proof.')
  return { hashes: hashes.map(String), checkpoint }
}
