import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { parse } from 'yaml'
import type { z } from 'zod'
import { GatewayError, messageOf } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import { type Costs, costsSchema } from '../sizing/costs.ts'
import { fieldsOf } from '../sizing/fields.ts'
import { type Plan, planMachines } from '../sizing/plan.ts'
import { type Traffic, trafficSchema } from '../sizing/traffic.ts'
import { addHelp } from './help.ts'

const COSTS_FILE = new URL('../../config/cost-model.json', import.meta.url)
const EXAMPLES = [
  'turnpike size --set requests_per_second=40',
  'turnpike size traffic.yaml --set machine.cores=8 --json',
  'turnpike size --fields',
]

interface SizeOptions {
  set: string[]
  fields?: boolean
  json?: boolean
}

/** `turnpike size`: from traffic to machines. */
export function addSizeCommand(program: Command): void {
  const command = program
    .command('size')
    .description('Work out how many machines some traffic needs, by simulation with measured costs. Sends nothing.')
    .argument('[file]', 'YAML with a description of the traffic; its fields: `turnpike size --fields`')
    .option('-s, --set <field=value>', 'a field of the description; may be given several times', collect, [])
    .option('--fields', 'list the fields, what they mean and what they are by default')
    .option('--json', 'print JSON')
    .action(size)
  addHelp(command, { examples: EXAMPLES })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

function size(file: string | undefined, { set, fields, json }: SizeOptions): void {
  if (fields) return void process.stdout.write(json ? `${JSON.stringify(fieldsOf(), undefined, 2)}\n` : renderFields())
  const traffic = parseTraffic(file === undefined ? {} : readTraffic(file), set)
  const costs = costsSchema.parse(JSON.parse(readFileSync(COSTS_FILE, 'utf8')))
  const plan = planMachines(traffic, costs)
  process.stdout.write(
    json
      ? `${JSON.stringify({ traffic, plan, measured: costs.measured }, undefined, 2)}\n`
      : render(traffic, plan, costs),
  )
}

function readTraffic(file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new GatewayError('invalid_request', `\`${file}\` cannot be read: ${messageOf(cause)}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new GatewayError('invalid_request', `\`${file}\`: expected a map of fields at the top level.`)
}

/** Throws `invalid_request` with a line for each field that is unknown or out of its bounds. */
function parseTraffic(described: Record<string, unknown>, set: readonly string[]): Traffic {
  for (const each of set) {
    const [, name = '', text = ''] = /^([a-z0-9_.]+)=(.*)$/.exec(each) ?? []
    if (name === '') throw new GatewayError('invalid_request', `--set: expected \`field=value\`, got \`${each}\`.`)
    const value: unknown = text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
    const [head = '', member] = name.split('.')
    described[head] = member === undefined ? value : { ...(described[head] as object | undefined), [member]: value } // safe: a spread of anything is an object
  }
  const parsed = trafficSchema.safeParse(described)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map((issue) => `  ${faultOf(issue)}`)
  throw new GatewayError('invalid_request', `The traffic cannot be used:\n${lines.join('\n')}`)
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.path.join('.')}: ${issue.message}`
  const names = fieldsOf().map(({ name }) => name)
  return issue.keys
    .map((key) => {
      const name = [...issue.path, key].join('.')
      return `unknown field \`${name}\`.${suggest(name, names)}`
    })
    .join(' ')
}

function renderFields(): string {
  const lines = fieldsOf().map(
    ({ name, default: usual, description }) => `${name}: ${usual ?? '(needed)'}\n    ${description}`,
  )
  return `${lines.join('\n')}\n`
}

const DECIDED: Readonly<Record<Plan['decidedBy'], string>> = {
  cpu: 'CPU decides',
  memory: 'memory decides',
  latency: 'the wait decides',
}

function render(traffic: Traffic, plan: Plan, { measured }: Costs): string {
  const { requests_per_second, burst, streams, stream_events, request_kilobytes, machine } = traffic
  const { postgres, redis, network, waits } = plan
  const spare = plan.spareMachines === 0 ? '' : ` + ${plan.spareMachines} spare`
  return `${[
    `${shown(requests_per_second)} requests/s of ${shown(request_kilobytes)} KB, ${shown(requests_per_second * burst)}/s in a burst; ${percent(streams)} streams of ${stream_events} events`,
    '',
    `gateway     ${plan.machines}${spare} machine${plan.machines + plan.spareMachines === 1 ? '' : 's'} of ${machine.cores} cores with --workers ${plan.processesPerMachine} ${plan.machines === 1 ? '' : `(${DECIDED[plan.decidedBy]})`}`.trimEnd(),
    `            busy ${percent(plan.busyOnAverage)}, ${percent(plan.busyInBurst)} in a burst; ${shown(plan.memoryPerMachineGigabytes)} GB of memory a machine`,
    `            adds ${shown(waits.p50Ms)} ms at the median, ${shown(waits.p99Ms)} ms for 1 in 100, in a burst`,
    `PostgreSQL  ${shown(postgres.transactionsPerSecond)} transactions/s, ${shown(postgres.cores)} cores; ${shown(postgres.storedGigabytes)} GB kept`,
    `Redis       ${shown(redis.commandsPerSecond)} commands/s, ${shown(redis.cores)} cores; ${shown(redis.storedGigabytes)} GB kept`,
    `network     ${shown(network.inMegabits)} Mbit/s in, ${shown(network.outMegabits)} Mbit/s out`,
    '',
    `Costs measured ${measured.at} on ${measured.machine}.`,
  ].join('\n')}\n`
}

function percent(share: number): string {
  return `${shown(share * 100)} %`
}

/** Two digits that count, no more. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return 'more than can be said'
  return Number(value.toPrecision(value >= 100 ? 3 : 2)).toLocaleString('en-US', { maximumFractionDigits: 10 })
}
