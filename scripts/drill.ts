/**
 * `npm run drill`: runs all drills in sequence, and prints one line for each. Exits with 1 when one failed. `npm run
 * drill -- kills ledger` runs these two. The output of drills is kept in `node_modules/.cache/drills`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const PREFIX = 'drill:'
const ROOT = path.resolve(import.meta.dirname, '..')
const OUTPUT = path.join(ROOT, 'node_modules/.cache/drills')

interface Outcome {
  readonly name: string
  readonly isPassed: boolean
  readonly minutes: string
  readonly file: string
}

const known = namesOfDrills()
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Expected drills of ${known.join(', ')}; got ${unknown.join(', ')}.`)
  process.exit(1)
}
mkdirSync(OUTPUT, { recursive: true })
const outcomes: Outcome[] = []
for (const name of wanted.length > 0 ? wanted : known) outcomes.push(await run(name))
console.log('')
for (const { name, isPassed, minutes, file } of outcomes)
  console.log(
    `${isPassed ? '✔' : '✗'} ${name} in ${minutes} min${isPassed ? '' : `, see ${path.relative(ROOT, file)}`}`,
  )
process.exitCode = outcomes.every(({ isPassed }) => isPassed) ? 0 : 1

function namesOfDrills(): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string> // safe: it is this package's
  }
  return Object.keys(scripts).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []))
}

async function run(name: string): Promise<Outcome> {
  console.log(`▸ npm run ${PREFIX}${name}`)
  const startedAtMs = performance.now()
  const file = path.join(OUTPUT, `${name}.log`)
  const output = createWriteStream(file)
  await once(output, 'open')
  const child = spawn('npm', ['run', '--silent', `${PREFIX}${name}`], { cwd: ROOT, stdio: ['ignore', output, output] })
  const [status] = await once(child, 'close')
  output.end()
  const minutes = ((performance.now() - startedAtMs) / 60_000).toFixed(1)
  return { name, isPassed: status === 0, minutes, file }
}
