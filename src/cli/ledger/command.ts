import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { loadConfig } from '../../config/load.ts'
import { messageOf } from '../../core/errors.ts'
import { type Checkpoint, CheckpointError, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import { firstReceiptIdAt } from '../../core/telemetry/receipt-id.ts'
import { type LedgerReport, verifyLedger } from '../../journal/ledger/verify-ledger.ts'
import { withVouched } from '../../journal/receipts/key-ring.ts'
import { type PublicReceiptKey, ReceiptKeyError } from '../../journal/receipts/public-key.ts'
import { createLogContent } from '../../stores/sql/receipts/receipt-store.ts'
import { CommandError } from '../exit-codes.ts'
import { addHelp } from '../help.ts'
import { givenKeys, KEY_OPTION, localKeys, localRing } from '../receipt-keys.ts'
import { withStore } from '../with-store.ts'
import { verifyRemote } from './remote.ts'

/** Difference allowed between the clocks of this machine and of the one that deletes receipts. */
const CLOCK_SLACK_MS = 60_000

interface VerifyOptions {
  readonly from?: readonly string[]
  readonly key?: string
  readonly url?: string
  readonly json?: boolean
}

/** Adds `turnpike ledger`: prints the head of the ledger of receipts, and verifies the ledger. */
export function addLedgerCommand(program: Command): void {
  const ledger = program.command('ledger').description('Check the ledger of receipts.')
  addVerify(ledger)
  const head = ledger
    .command('head')
    .description(
      'Print the latest signed head of the ledger. Keep it: it proves later that nothing before it was changed.',
    )
    .option('--json', 'print JSON')
    .action(printHead)
  addHelp(head, { examples: ['turnpike ledger head > head.txt'], exits: { 66: 'the ledger is empty' } })
}

function addVerify(ledger: Command): void {
  const verify = ledger
    .command('verify')
    .description('Verify that the ledger has every receipt, unchanged, and that each head continues the one before.')
    .option('--from <file>', 'a head that was kept; repeatable', (file, files: string[] = []) => [...files, file])
    .option(
      '--url <url>',
      'ask a running gateway for the proofs that it continues the heads of --from, in place of reading the database',
    )
    .option(...KEY_OPTION)
    .option('--json', 'print JSON')
    .action(verifyCommand)
  addHelp(verify, {
    examples: [
      'turnpike ledger verify',
      'turnpike ledger verify --from head.txt',
      'turnpike ledger verify --from head.txt --url https://gateway.example --key keys.json',
    ],
    exits: {
      0: 'verified',
      1: 'changed, or not signed by the keys',
      2: 'a head or a key is invalid',
      69: 'the gateway gives no proof',
    },
    notes: [
      'With --key, a key counts too if a given key has signed the list of keys that names it.',
      'Receipts older than `receipts.keep` may be deleted; their hashes stay in the ledger.',
    ],
  })
}

async function verifyCommand({ from = [], key, url, json }: VerifyOptions): Promise<void> {
  const kept = from.map(readHead)
  const given = readKeys(key)
  for (const [i, head] of kept.entries())
    if (given !== undefined && signerOf(head, given) === undefined)
      throw new CommandError(1, `--from ${from[i]}: it is not signed by a given key.`)
  if (url !== undefined) return verifyRemote({ url, kept, keys: given ?? localKeys(), isJson: json ?? false })
  const report = await verifyStored(kept, given)
  process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : render(report, kept.length))
  if (!report.isValid) process.exitCode = 1
}

function verifyStored(
  kept: readonly Checkpoint[],
  given: readonly PublicReceiptKey[] | undefined,
): Promise<LedgerReport> {
  const { receipts } = loadConfig(process.env).config
  const oldestId = () => (receipts.keep > 0 ? firstReceiptIdAt(Date.now() - receipts.keep + CLOCK_SLACK_MS) : '')
  const ring = localRing()
  const keys = given === undefined ? (ring?.keys ?? []) : ring === undefined ? given : withVouched(given, ring.note)
  return withStore(async (store) => {
    const content = createLogContent(store)
    return verifyLedger({ content, keys, kept, oldestId })
  })
}

async function printHead({ json }: { json?: boolean }): Promise<void> {
  const { origin, checkpoint } = await withStore((store) => createLogContent(store).state())
  if (checkpoint === undefined) throw new CommandError(66, 'The ledger is empty.')
  process.stdout.write(json ? `${JSON.stringify({ origin, checkpoint })}\n` : checkpoint)
}

function readHead(file: string): Checkpoint {
  try {
    return parseCheckpoint(readFileSync(file, 'utf8'))
  } catch (cause) {
    const why = cause instanceof CheckpointError ? cause.message : messageOf(cause)
    throw new CommandError(2, `--from ${file}: ${why}`, { cause })
  }
}

function readKeys(key: string | undefined): PublicReceiptKey[] | undefined {
  try {
    return key === undefined ? undefined : givenKeys(key)
  } catch (cause) {
    if (cause instanceof ReceiptKeyError) throw new CommandError(2, cause.message, { cause })
    throw cause
  }
}

function render(report: LedgerReport, kept: number): string {
  const { isValid, origin, heads, leaves, receipts, deleted, signed, faults, faultCount } = report
  const more = faultCount - faults.length
  const lines = [
    isValid ? 'Verified: no receipt was changed, dropped or reordered.' : 'CHANGED: do not rely on this ledger.',
    ...faults.map((fault) => `  FAILED  ${fault}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    `${origin}: ${leaves} receipts under ${heads} heads`,
    `  ${receipts} stored, ${deleted} deleted after \`receipts.keep\`, ${signed} older ones with a signature of their own`,
    ...(kept > 0 ? [`  compared with ${kept} kept ${kept === 1 ? 'head' : 'heads'}`] : []),
  ]
  return `${lines.join('\n')}\n`
}
