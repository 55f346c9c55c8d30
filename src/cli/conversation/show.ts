import { once } from 'node:events'
import type { Command } from 'commander'
import type {
  ConversationSummary,
  ConversationTotals,
  ConversationTurn,
  Run,
} from '../../core/telemetry/conversations.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, ask, findGateway, type GatewayOptions, type RemoteGateway } from '../remote/gateway.ts'
import { count, duration, fineUsd, NOTHING, timeOfDay } from '../terminal/figures.ts'
import { table } from '../terminal/table.ts'
import { visible } from '../terminal/visible.ts'

/** Turns that are aligned together. */
const PAGE = 100

interface ShowOptions extends GatewayOptions {
  readonly json?: boolean
}

/** Reply of the gateway. */
interface Shown {
  readonly conversation: Run
  readonly turns: { readonly data: readonly ConversationTurn[]; readonly has_more: boolean }
}

/** Adds `turnpike conversation show`: prints a conversation turn by turn. */
export function addShowCommand(conversation: Command): void {
  const command = conversation
    .command('show')
    .description('Show a conversation turn by turn, with the cost of each class of tokens.')
    .argument('<id>', 'the conversation, from `turnpike conversation list`')
    .option('--json', 'print JSON, one turn per line, those of sub-agents last')
  addHelp(addGatewayOptions(command), {
    examples: [
      'turnpike conversation show conv_01j8z6…',
      "turnpike conversation show conv_01j8z6… --json | jq '[.number, .costNanoUsd]'",
    ],
    exits: { 66: 'no such conversation of yours', 69: 'no gateway replies' },
    notes: [
      'Sums, costs by class and sub-agents come first. Input is what no cache held; think is a part of the output.',
    ],
  }).action(show)
}

async function show(id: string, { json = false, ...options }: ShowOptions): Promise<void> {
  const gateway = findGateway(options)
  const path = `/dashboard/api/conversations/${encodeURIComponent(id)}`
  if (json) return pipe(await ask(gateway, `${path}/turns.jsonl`))
  let page = await fetchPage(gateway, path, '')
  await print([...headOf(page.conversation), ''])
  for (;;) {
    await print(table([HEAD, ...page.turns.data.map(rowOf)], ''))
    const last = page.turns.data.at(-1)
    if (!page.turns.has_more || last === undefined) return
    page = await fetchPage(gateway, path, `&after=${last.id}`)
  }
}

async function fetchPage(gateway: RemoteGateway, path: string, after: string): Promise<Shown> {
  const reply = await ask(gateway, `${path}?limit=${PAGE}${after}`)
  return (await reply.json()) as Shown // safe: the gateway’s own shape
}

/** Copies the body to standard output, as fast as that takes it. */
async function pipe({ body }: Response): Promise<void> {
  for await (const chunk of body ?? []) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
}

async function print(lines: readonly string[]): Promise<void> {
  if (!process.stdout.write(lines.map((line) => `${line}\n`).join(''))) await once(process.stdout, 'drain')
}

function headOf(run: Run): string[] {
  const { id, client, runTotals, agents, agentCount, models } = run
  const lines = [
    visible(`${id}  ${client ?? 'unknown client'}  ${models.join(', ')}`),
    `${runTotals.turns} turns, ${runTotals.errors} failed; ${fineUsd(runTotals.costNanoUsd)}, saved ${signed(runTotals.savedNanoUsd)}, lost ${fineUsd(runTotals.lostNanoUsd)}`,
    costLine(runTotals),
  ]
  if (agentCount > 0) lines.push(`${agentCount} sub-agents:`, ...table(agents.map(agentRow), '  '))
  return lines
}

function costLine({ costs, unpriced }: ConversationTotals): string {
  const parts = [
    ['input', costs.input],
    ['cache read', costs.cacheRead],
    ['write 5m', costs.cacheWrite5m],
    ['write 1h', costs.cacheWrite1h],
    ['output', costs.output],
    ['thinking', costs.reasoning],
    ['server tools', costs.serverTools],
  ] as const
  const line = parts.map(([name, nanoUsd]) => `${name} ${fineUsd(nanoUsd)}`).join(', ')
  return unpriced === 0 ? line : `${line}; ${unpriced} turns of unknown cost are left out`
}

function agentRow({ id, agent, totals }: ConversationSummary): string[] {
  return [id, agent ?? NOTHING, `${totals.turns} turns`, fineUsd(totals.costNanoUsd)].map(visible)
}

function signed(nanoUsd: number): string {
  return nanoUsd < 0 ? `-${fineUsd(-nanoUsd)}` : fineUsd(nanoUsd)
}

const HEAD = [
  'turn',
  'time',
  'input',
  'read',
  'write',
  'output',
  'think',
  'cost',
  'sum',
  'first',
  'tok/s',
  'stop',
  'tools',
]

function rowOf(turn: ConversationTurn): string[] {
  const { tokens, tokensPerSecond } = turn
  const amounts = tokens && [tokens.input, tokens.cacheRead, tokens.cacheWrite, tokens.output, tokens.reasoning]
  return [
    String(turn.number),
    timeOfDay(turn.startedAtMs),
    ...(amounts?.map(count) ?? Array.from({ length: 5 }, () => NOTHING)),
    fineUsd(turn.costNanoUsd),
    fineUsd(turn.runningNanoUsd),
    duration(turn.firstByteMs),
    tokensPerSecond === null ? NOTHING : String(Math.round(tokensPerSecond)),
    turn.stopReason ?? turn.reason ?? turn.outcome,
    [...turn.tools, ...(turn.lost === null ? [] : [`lost: ${turn.lost.detail}`])].join(', '),
  ].map(visible)
}
