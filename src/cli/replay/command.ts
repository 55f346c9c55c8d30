import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandError } from '../exit-codes.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, findGateway, type GatewayOptions, messageIn } from '../remote/gateway.ts'
import { createPaint } from '../terminal/paint.ts'
import { jsonLine, visible } from '../terminal/visible.ts'
import { answerOf } from './answer.ts'
import { assertKept, fetchSession, find, type GatewaySession } from './past.ts'
import { compare, render, toJson } from './report.ts'
import { type Outgoing, sendAgain, toOutgoing } from './send-again.ts'

const USUAL_COLUMNS = 80
/** Key for local mode, which accepts any; this one has its own scope. */
const LOCAL_KEY = 'replay'
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(\S.*)$/

interface ReplayOptions extends GatewayOptions {
  readonly pipeline?: string
  readonly key?: string
  readonly header: Readonly<Record<string, string>>
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Adds `turnpike replay`: sends a past request again, and compares. */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('Send a past request again through the running gateway, and compare the replies.')
    .argument('<request>', 'its id, req_…, or its receipt’s, rcpt_…')
    .option('-p, --pipeline <pipeline>', 'pipeline to use (default: the one that ran)')
    .addOption(
      new Option('--key <credential>', 'API key, in cloud mode; in local mode any word, each with its own cache').env(
        'SVC_API_KEY',
      ),
    )
    .option('-H, --header <line>', 'additional header, e.g. "anthropic-beta: …"; may be repeated', addHeader, {})
    .option('--dry-run', 'send nothing; print the body that would be sent')
    .option('--json', 'print JSON')
  addHelp(addGatewayOptions(command), {
    examples: [
      'turnpike replay req_5c61ff0e34fa40f4a1d7359fe3c7100e',
      'turnpike replay rcpt_01m819sbg11hqfaq441y53epqg --pipeline none',
      'turnpike replay rcpt_01m819sbg11hqfaq441y53epqg --pipeline "compress,cost-guard" --json',
      'turnpike replay rcpt_01m819sbg11hqfaq441y53epqg --dry-run > body.json',
    ],
    exits: {
      0: 'replied, with an equal or different reply',
      1: 'replied with an error',
      66: 'no such request, or its body was not kept',
      69: 'no gateway replies',
    },
    notes: [
      'A request that reaches the provider is charged again. Request headers are never kept: give those of the first request with --header. Credentials are sent to the gateway only.',
    ],
  }).action(replay)
}

function addHeader(line: string, others: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, value] = HEADER.exec(line) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('expected "name: value"')
  return { ...others, [name.toLowerCase()]: value }
}

async function replay(id: string, options: ReplayOptions): Promise<void> {
  const gateway = findGateway(options)
  const session = await fetchSession(gateway)
  const past = assertKept(await find(gateway, id), session)
  const { header: headers, dryRun = false, json = false } = options
  const pipeline = options.pipeline ?? (past.request.pipeline === session.pipeline ? undefined : past.request.pipeline)
  const outgoing = toOutgoing(past, { key: keyOf(options, session), pipeline, headers })
  if (dryRun) return printOutgoing(outgoing, json)
  const now = await sendAgain(gateway, outgoing)
  const before = past.reply === undefined ? undefined : answerOf(past.reply)
  const comparison = compare(past, now, { before, now: answerOf(now.reply) })
  process.stdout.write(
    json
      ? `${jsonLine(toJson(comparison))}\n`
      : render(comparison, process.stdout.columns ?? USUAL_COLUMNS, createPaint(process.stdout)),
  )
  if (now.status < 400) return
  process.exitCode = 1
  process.stderr.write(`${visible(messageIn(now.reply))}\n`)
}

/** Returns the API key to send. Throws `CommandError` when cloud mode has none. */
function keyOf({ key }: ReplayOptions, { mode }: GatewaySession): string {
  if (key === undefined && mode === 'cloud')
    throw new CommandError(2, 'In cloud mode a request needs an API key: set SVC_API_KEY, or give --key.')
  return key ?? LOCAL_KEY
}

/** Prints the request without its credential. */
function printOutgoing({ path, headers: { authorization: _, ...headers }, body }: Outgoing, isJson: boolean): void {
  process.stdout.write(isJson ? `${jsonLine({ method: 'POST', path, headers, body })}\n` : `${body}\n`)
}
