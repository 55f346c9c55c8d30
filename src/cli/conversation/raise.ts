import { type Command, InvalidArgumentError, Option } from 'commander'
import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../../core/money/budget-windows.ts'
import { duration } from '../../core/units.ts'
import { CommandError } from '../exit-codes.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, ask, findGateway, type GatewayOptions } from '../remote/gateway.ts'
import { visible } from '../terminal/visible.ts'

interface RaiseOptions extends GatewayOptions {
  readonly by?: string
  readonly to?: string
  readonly budget: BudgetName
  readonly agent?: string
  readonly json?: boolean
}

/** Reply of the gateway. */
interface Raised {
  readonly budget: string
  readonly conversation: string
  readonly unit: string
  readonly limit: number
  readonly spent: number
}

/** Adds `turnpike conversation raise`: raises a budget of a conversation. */
export function addRaiseCommand(conversation: Command): void {
  const command = conversation
    .command('raise')
    .description('Raise a budget of a conversation, from its next request on.')
    .argument('<id>', 'the conversation, as the refusal names it')
    .option('--by <amount>', 'amount of the raise: USD, turns, tokens, or a time such as 30m', parseAmount)
    .option('--to <amount>', 'the new limit, instead; a lower one changes nothing', parseAmount)
    .addOption(new Option('--budget <name>', 'which budget').choices(BUDGET_NAMES).default('per_conversation'))
    .option('--agent <name>', 'with per_agent: the sub-agent, as the refusal names it (default: the main agent)')
    .option('--json', 'print JSON')
  addHelp(addGatewayOptions(command), {
    examples: [
      'turnpike conversation raise conv_01j8z6… --by 5',
      'turnpike conversation raise conv_01j8z6… --budget per_run --to 20',
      'turnpike conversation raise conv_01j8z6… --budget time_per_conversation --by 2h',
    ],
    exits: { 66: 'no such budget of yours', 69: 'no gateway replies' },
    notes: ['The owner of the key and the operator may raise it; each raise is in the audit log.'],
  }).action(raise)
}

const timeOf = duration({ min: '1s', max: '365d' })

/** Checks an amount. Throws `InvalidArgumentError`. */
function parseAmount(text: string): string {
  if (Number(text) > 0 || timeOf.safeParse(text).success) return text
  throw new InvalidArgumentError('expected an amount above 0, or a time such as 30m')
}

async function raise(id: string, { by, to, budget, agent, json, ...options }: RaiseOptions): Promise<void> {
  if ((by === undefined) === (to === undefined)) throw new CommandError(2, 'Expected either --by or --to.')
  const gateway = findGateway(options)
  const body = JSON.stringify({ budget, agent, by: amountOf(budget, by), to: amountOf(budget, to) })
  const headers = { ...gateway.headers, 'content-type': 'application/json' }
  const path = `/dashboard/api/conversations/${encodeURIComponent(id)}/budgets`
  const reply = await ask(gateway, path, { method: 'POST', headers, body })
  const raised = (await reply.json()) as Raised // safe: it is the gateway's own
  const line = json ? JSON.stringify(raised) : describe(raised)
  process.stdout.write(`${line}\n`)
}

/** Returns an amount in the unit of the route: USD, turns, tokens, seconds. */
function amountOf(budget: BudgetName, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const isTime = BUDGETS[budget].unit === 'ms'
  const time = timeOf.safeParse(text)
  if (isTime && time.success) return Math.round(time.data / 1000)
  if (!isTime && !time.success) return Number(text)
  throw new CommandError(2, isTime ? 'Expected a time such as 30m.' : `Expected a number for ${budget}.`)
}

function describe({ budget, conversation, unit, limit, spent }: Raised): string {
  const shown = (amount: number) => (unit === 'usd' ? `$${amount}` : `${amount} ${unit}`)
  return visible(`${budget} of ${conversation}: ${shown(spent)} of ${shown(limit)} used.`)
}
