import { type Command, Option } from 'commander'
import type { ListedRun } from '../../core/telemetry/conversations.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, ask, findGateway, type GatewayOptions } from '../remote/gateway.ts'
import { count, NOTHING, timeOfDay, usd } from '../terminal/figures.ts'
import { table } from '../terminal/table.ts'
import { jsonLine, visible } from '../terminal/visible.ts'
import { wholeNumber } from '../whole-number.ts'

const MOST = 500
const USUAL = 20
const CLIENTS = ['claude-code', 'codex', 'opencode', 'copilot']

interface ListOptions extends GatewayOptions {
  readonly limit?: number
  readonly text?: string
  readonly client?: string
  readonly after?: string
  readonly json?: boolean
}

/** Adds `turnpike conversation list`: prints conversations, the newest first. */
export function addListCommand(conversation: Command): void {
  const command = conversation
    .command('list')
    .description('List conversations, the newest first, with the cost of their sub-agents.')
    .option('--text <text>', 'only with this in an id, a client, a sub-agent or a model')
    .addOption(new Option('--client <name>', 'only of this client').choices(CLIENTS))
    .option('-n, --limit <count>', `at most this many, up to ${MOST} (default: ${USUAL})`, wholeNumber(MOST))
    .option('--after <id>', 'continue after a list that ended with this newestId (--json)')
    .option('--json', 'print JSON, one conversation per line')
  addHelp(addGatewayOptions(command), {
    examples: ['turnpike conversation list', "turnpike conversation list --json | jq '.runTotals.costNanoUsd'"],
    exits: { 69: 'no gateway replies' },
    notes: [
      'Cost, saved and lost are those of the conversation and its sub-agents; lost is the additional cost of a prompt cache that was not read.',
    ],
  }).action(list)
}

async function list({ limit = USUAL, text, client, after, json = false, ...options }: ListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: String(limit) })
  for (const [name, value] of Object.entries({ text, client, after })) if (value !== undefined) query.set(name, value)
  const reply = await ask(findGateway(options), `/dashboard/api/conversations?${query}`)
  const { data } = (await reply.json()) as { data: readonly ListedRun[] } // safe: the gateway’s own shape
  const lines = json ? data.map(jsonLine) : table([HEAD, ...data.map(rowOf)], '')
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

const HEAD = ['last', 'conversation', 'client', 'turns', 'agents', 'context', 'cost', 'saved', 'lost', 'models']

function rowOf(run: ListedRun): string[] {
  const { runTotals } = run
  return [
    `${new Date(run.lastAtMs).toISOString().slice(0, 10)} ${timeOfDay(run.lastAtMs)}`,
    run.id,
    run.client ?? NOTHING,
    count(runTotals.turns),
    count(run.agentCount),
    run.contextTokens === null ? NOTHING : count(run.contextTokens),
    usd(runTotals.costNanoUsd),
    usd(runTotals.savedNanoUsd),
    usd(runTotals.lostNanoUsd),
    run.models.join(', '),
  ].map(visible)
}
