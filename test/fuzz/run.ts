/**
 * `npm run drill:fuzz`: attacks the parsers, each in a process of its own so that its memory is its own, for a minute or a
 * million cases, whichever is less; with a new seed, which it prints.
 *
 *     node test/fuzz/run.ts [name …] [--cases 1000000] [--seconds 60] [--seed 7]
 *
 * A case that breaks a promise, or takes a second of CPU, is written into the corpus and ends the run with exit code 1.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { keep } from './corpus.ts'
import { drive, type FuzzReport } from './drive.ts'
import { FUZZERS } from './fuzzers.ts'

// Most cases throw; where from is of no interest until one breaks a promise.
Error.stackTraceLimit = 3

const SLOWEST_MS = 1000
const MOST_MEMORY_MB = 1024

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const names = positionals.length > 0 ? positionals : FUZZERS.map(({ name }) => name)
const [only] = names
if (names.length === 1 && only !== undefined) await attack(only)
else {
  console.log(`seed ${values.seed}`)
  process.exitCode = names.map(attackInProcess).some((isSafe) => !isSafe) ? 1 : 0
}

function attackInProcess(name: string): boolean {
  const options = Object.entries(values).flatMap(([option, value]) => [`--${option}`, value])
  return spawnSync(process.execPath, [import.meta.filename, name, ...options], { stdio: 'inherit' }).status === 0
}

async function attack(name: string): Promise<void> {
  const fuzzer = FUZZERS.find((each) => each.name === name)
  if (fuzzer === undefined)
    throw new Error(`expected one of ${FUZZERS.map((each) => each.name).join(', ')}, got ${name}`)
  const limits = { cases: Number(values.cases), elapsedMs: Number(values.seconds) * 1000, seed: Number(values.seed) }
  const report = await drive(fuzzer, limits)
  console.log(lineOf(name, report))
  const missing = fuzzer.outcomes.filter((outcome) => !report.outcomes.has(outcome))
  if (missing.length > 0) console.log(`  never seen: ${missing.join(', ')}`)
  const input = report.failure?.input ?? (report.slowestMs > SLOWEST_MS ? report.slowest : undefined)
  if (input !== undefined) console.log(`  kept in ${keep(name, input)}`, report.failure?.error ?? 'it is too slow')
  process.exitCode = input !== undefined || missing.length > 0 || memoryMb() > MOST_MEMORY_MB ? 1 : 0
}

function memoryMb(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

function lineOf(name: string, { cases, elapsedMs, outcomes, slowestMs }: FuzzReport): string {
  const shares = [...outcomes]
    .sort((a, b) => b[1] - a[1])
    .map(([outcome, count]) => `${outcome} ${((100 * count) / cases).toFixed(1)} %`)
  const rate = Math.round(cases / (elapsedMs / 1000))
  return `${name}: ${cases} cases, ${rate}/s, slowest ${slowestMs.toFixed(1)} ms CPU, ${memoryMb()} MB; ${shares.join(', ')}`
}
