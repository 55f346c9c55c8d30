import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandError } from '../exit-codes.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, findGateway, type GatewayOptions, messageIn } from '../remote/gateway.ts'
import { createPaint } from '../terminal/paint.ts'
import { jsonLine, visible } from '../terminal/visible.ts'
import { answerOf } from './answer.ts'
import { askFacts, assertKept, find, type GatewayFacts } from './past.ts'
import { compare, render, toJson } from './report.ts'
import { type Outgoing, sendAgain, toOutgoing } from './send-again.ts'

const USUAL_COLUMNS = 80
/** Local mode takes any word; this one has a scope of its own. */
const LOCAL_KEY = 'replay'
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(\S.*)$/

interface ReplayOptions extends GatewayOptions {
  readonly pipeline?: string
  readonly key?: string
  readonly header: Readonly<Record<string, string>>
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `turnpike replay`: sends a past request again, and compares. */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('Send a past request again through the running gateway, and compare what came of it.')
    .argument('<request>', 'its id, req_…, or its receipt’s, rcpt_…')
    .option('-p, --pipeline <pipeline>', 'through this pipeline (default: the one that ran)')
    .addOption(
      new Option(
        '--key <credential>',
        'API key, in cloud mode; in local mode any word, each with a cache of its own',
      ).env('SVC_API_KEY'),
    )
    .option('-H, --header <line>', 'send this too, as "anthropic-beta: …"; may be repeated', addHeader, {})
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
      0: 'answered, the same or not',
      1: 'answered with an error',
      66: 'there is no such request, or its body was not kept',
      69: 'no gateway answers',
    },
    notes: [
      'A request that the provider answers is paid for again. Headers of requests are never kept: what the first one had besides its body must be given with --header. Credentials go to the gateway alone.',
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
  const facts = await askFacts(gateway)
  const past = assertKept(await find(gateway, id), facts)
  const { header: headers, dryRun = false, json = false } = options
  const pipeline = options.pipeline ?? (past.request.pipeline === facts.pipeline ? undefined : past.request.pipeline)
  const outgoing = toOutgoing(past, { key: keyOf(options, facts), pipeline, headers })
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

/** Throws `CommandError`. */
function keyOf({ key }: ReplayOptions, { mode }: GatewayFacts): string {
  if (key === undefined && mode === 'cloud')
    throw new CommandError(2, 'In cloud mode a request needs an API key: set SVC_API_KEY, or give --key.')
  return key ?? LOCAL_KEY
}

/** The credential stays out of what is printed. */
function printOutgoing({ path, headers: { authorization: _, ...headers }, body }: Outgoing, isJson: boolean): void {
  process.stdout.write(isJson ? `${jsonLine({ method: 'POST', path, headers, body })}\n` : `${body}\n`)
}
