/** `npm run drill:soak`: a day's worth of traffic in some minutes. Ends with 0 when nothing has grown, else with 1. */
import { parseArgs } from 'node:util'
import { hasProcessFacts } from '../support/process-facts.ts'
import { loadSessions } from './conversations.ts'
import { printReport } from './report.ts'
import { soak } from './soak.ts'

const MOST_MINUTES = 24 * 60
const MINUTE_MS = 60_000
/** To start and to end in, beside the day itself. */
const SPARE_MS = 5 * MINUTE_MS

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '12' },
    engine: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: '1' },
    users: { type: 'string', default: '24' },
    leak: { type: 'boolean', default: false },
  },
})

function numberOf(name: 'minutes' | 'seed' | 'users', least: number, most: number): number {
  const number = Number(values[name])
  if (number >= least && number <= most) return number
  throw new Error(`Expected --${name} to be a number from ${least} to ${most}, got \`${values[name]}\``)
}

function engineOf(): 'sqlite' | 'postgres' {
  const { engine } = values
  if (engine === 'sqlite' || engine === 'postgres') return engine
  throw new Error(`Expected --engine to be sqlite or postgres, got \`${engine}\``)
}

function giveUp(reason: string): never {
  console.error(`The soak was not finished: ${reason}`)
  process.exit(1) // which ends what was started
}

const dayMs = numberOf('minutes', 0.1, MOST_MINUTES) * MINUTE_MS
if (!hasProcessFacts) giveUp('it reads /proc, which this system does not have')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp(signal))
setTimeout(() => giveUp(`it took ${SPARE_MS / MINUTE_MS} minutes longer than its day`), dayMs + SPARE_MS).unref()

const sessions = loadSessions()
if (sessions.absent !== undefined) console.error(sessions.absent)
const report = await soak({
  engine: engineOf(),
  dayMs,
  seed: Math.floor(numberOf('seed', 0, 2 ** 31)),
  users: Math.floor(numberOf('users', 1, 500)),
  sessions,
  leaks: values.leak,
})
console.log(printReport(report))
process.exit(report.findings.every(({ isFine }) => isFine) ? 0 : 1)
