import { existsSync, readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import type { Command } from 'commander'
import { z } from 'zod'
import { messageOf } from '../core/errors.ts'
import type { SignedReceipt } from '../core/telemetry/receipt.ts'
import { RECEIPT_ID } from '../core/telemetry/receipt-id.ts'
import { ReceiptKeyError } from '../journal/receipts/public-key.ts'
import { NoReceipt, type Verdict, verifyReceipt } from '../journal/receipts/verify.ts'
import { toReceipt } from '../stores/sql/receipts/receipt-store.ts'
import { addHelp } from './help.ts'
import { givenKeys, KEY_OPTION, localKeys } from './receipt-keys.ts'
import { withStore } from './with-store.ts'

const EXIT_INVALID = 1
const EXIT_UNUSABLE = 2
/** Printable in a terminal. */
const name = z.string().regex(/^[\w. :/-]{1,300}$/)
const stepWithFigures = z.object({ module: name, action: name, figures: z.record(name, z.union([z.int(), name])) })

/** Adds `turnpike receipt verify`: verifies a receipt offline. */
export function addReceiptCommand(program: Command): void {
  const command = program
    .command('receipt')
    .description('Check receipts.')
    .command('verify')
    .description('Verify offline that a receipt is genuine and unchanged.')
    .argument('<file>', 'the receipt’s JSON, - for standard input, or the id of a receipt in the local database')
    .option(...KEY_OPTION)
    .option('--json', 'print JSON')
    .action(verify)
  addHelp(command, {
    examples: [
      'turnpike receipt verify receipt.json',
      'turnpike receipt verify rcpt_01m803q1vqay4xsy28gwc92241',
      'curl -s https://gateway.example/.well-known/turnpike-keys > keys.json',
      'turnpike receipt verify receipt.json --key keys.json',
    ],
    exits: { 0: 'genuine', 1: 'not genuine', 2: 'the file or the key is invalid' },
  })
}

async function verify(file: string, { key, json }: { key?: string; json?: boolean }): Promise<void> {
  try {
    const text = RECEIPT_ID.test(file) && !existsSync(file) ? await readStored(file) : await readText(file)
    const verdict = verifyReceipt(text, key === undefined ? localKeys() : givenKeys(key))
    process.stdout.write(json ? `${JSON.stringify(shown(verdict), undefined, 2)}\n` : render(verdict))
    if (!verdict.isValid) process.exitCode = EXIT_INVALID
  } catch (error) {
    const isUnusable = error instanceof NoReceipt || error instanceof ReceiptKeyError
    if (!isUnusable) throw error
    const message = error instanceof NoReceipt ? `\`${file}\` is not a receipt: ${error.message}` : error.message
    if (json) process.stdout.write(`${JSON.stringify({ valid: false, error: message }, undefined, 2)}\n`)
    process.stderr.write(`${message}\n`)
    process.exitCode = EXIT_UNUSABLE
  }
}

async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await textOf(process.stdin) : readFileSync(file, 'utf8')
  } catch (cause) {
    throw new NoReceipt(`it cannot be read (${messageOf(cause)}).`, { cause })
  }
}

/** Reads a receipt of the local database. */
async function readStored(id: string): Promise<string> {
  const found = await withStore((store) => store.run('receipt.find', { id }))
  if (found === undefined) throw new NoReceipt('the database has no such receipt.')
  return JSON.stringify(toReceipt(found))
}

function shown({ isValid, checks, receipt }: Verdict) {
  return { valid: isValid, id: receipt?.id ?? null, checks }
}

function render({ isValid, checks, receipt }: Verdict): string {
  const lines = [
    isValid
      ? `Genuine: the receipt is as it was ${receipt?.v === 1 ? 'signed. It is not in any ledger' : 'recorded'}.`
      : 'NOT GENUINE: do not rely on this receipt.',
    ...checks.map(({ name, ok, says }) => `  ${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(9)}  ${says}`),
    ...(isValid && receipt !== undefined ? summaryOf(receipt) : []),
  ]
  return `${lines.join('\n')}\n`
}

function summaryOf({
  id,
  created_at,
  model_asked,
  outcome,
  cost,
  counterfactual,
  steps,
  ...rest
}: SignedReceipt): string[] {
  return [
    `${id}, ${created_at}`,
    `  model ${model_asked}, ${outcome}, cost ${usdOf(cost.provider_usd)}, without the gateway ${usdOf(counterfactual.usd)}${counterfactual.usd_at_most === undefined ? '' : ` to ${usdOf(counterfactual.usd_at_most)}`}`,
    ...figureLines(steps),
    `  SHA-256 of the request  ${rest.request_sha256}`,
    `  SHA-256 of the reply    ${rest.reply_sha256}  (${rest.reply_bytes} bytes)`,
    'A receipt is the gateway’s own statement. To match it with bytes you have, compare their SHA-256.',
  ]
}

/** Returns a line for each plugin with figures. Steps of another form, as another gateway may sign, have none. */
function figureLines(steps: unknown): string[] {
  if (!Array.isArray(steps)) return []
  return steps.flatMap((step) => {
    const { data } = stepWithFigures.safeParse(step)
    if (data === undefined) return []
    const figures = Object.entries(data.figures).map(([name, value]) => `${name} ${value}`)
    return [`  ${data.module}: ${data.action}; ${figures.join(', ')}`]
  })
}

function usdOf(usd: string | null): string {
  return usd === null ? 'not known' : `${usd} USD`
}
