import { parseArgs } from 'node:util'
import { cases } from './cases.ts'
import { targets } from './targets.ts'

/** Duration of each measurement, and number of repetitions. */
export interface Effort {
  rounds: number
  /** Least requests of one measurement at saturation. */
  requests: number
  /** Its least seconds: V8's large collections come seconds apart. */
  seconds: number
  /** Requests of one latency measurement. */
  pacedRequests: number
  /** Least requests before the first round, for each gateway and case: V8 compiles late. */
  warmUpRequests: number
  /** Streams held open to measure the memory of one. */
  idleStreams: number
}

export interface Options {
  effort: Effort
  targetNames: ReadonlySet<string>
  caseNames: ReadonlySet<string>
  outputFile: string
  /** Tables to make. */
  tables: ReadonlySet<'gateways' | 'parts'>
  help: boolean
}

const full: Effort = {
  rounds: 4,
  requests: 1250,
  seconds: 3,
  pacedRequests: 200,
  warmUpRequests: 10_000,
  idleStreams: 500,
}
const quick: Effort = {
  rounds: 1,
  requests: 1000,
  seconds: 0,
  pacedRequests: 80,
  warmUpRequests: 2000,
  idleStreams: 500,
}

export const usage = `node bench/run.ts [options]
  --rounds N      interleaved rounds (4)
  --quick         1 short round after a short warm-up, for a first look
  --only LIST     gateways beside the bare relay, of: ${targets.map(({ name }) => name).join(',')} (all)
  --parts         only the table of what each part adds, and to no file
  --no-parts      without it
  --cases LIST    cases, of: ${cases.map(({ name }) => name).join(',')} (all)
  --output FILE   where the tables go (bench/RESULTS.md)`

/** Parses the command line. Throws an Error that names the invalid value and the allowed ones. */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      cases: { type: 'string' },
      output: { type: 'string', default: 'bench/RESULTS.md' },
      parts: { type: 'boolean', default: false },
      'no-parts': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const effort = { ...(values.quick ? quick : full) }
  if (values.rounds !== undefined) effort.rounds = parseRounds(values.rounds)
  return {
    effort,
    targetNames: parseList('--only', values.only, targets),
    caseNames: parseList('--cases', values.cases, cases),
    outputFile: values.output,
    tables: new Set(values.parts ? ['parts'] : values['no-parts'] ? ['gateways'] : ['gateways', 'parts']),
    help: values.help,
  }
}

function parseRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 100) return rounds
  throw new Error(`Expected --rounds to be a whole number from 1 to 100, got \`${text}\`.`)
}

function parseList(option: string, text: string | undefined, known: readonly { name: string }[]): Set<string> {
  const names = known.map(({ name }) => name)
  const chosen = text?.split(',') ?? names
  const stranger = chosen.find((name) => !names.includes(name))
  if (stranger === undefined) return new Set(chosen)
  throw new Error(`Expected ${option} to be a list of ${names.join(', ')}, got \`${stranger}\`.`)
}
