/**
 * `npm test`: the checks and the tests, one npm script after another. The first that fails ends it and is named.
 * The tests come last, so that the output ends with their summary, and with what broke a file of tests off: the summary
 * only counts that.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const STEPS = ['check:lint', 'check:types', 'check:unused', 'check:docs', 'check:examples', 'services', 'tests']
const BREAK_OFF = /^\s*(Uncaught exception|Unhandled rejection) in /
const LINES_OF_A_BREAK_OFF = 25

for (const step of STEPS) {
  console.log(`\n▸ npm run ${step}`)
  // On Windows npm is a script that only a shell can start.
  const child = spawn('npm', ['run', '--silent', step], {
    stdio: ['inherit', process.stdout.isTTY ? 'inherit' : 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  })
  const ended = once(child, 'close')
  const told = child.stdout ? await passOn(child.stdout) : []
  const [status] = await ended
  if (status === 0) continue
  console.error(step === 'tests' ? told.join('\n') : `\n✗ npm test stopped at \`npm run ${step}\`.`)
  process.exit(status ?? 1)
}

/** Prints each line as it comes; returns those that tell of a break-off. */
async function passOn(output: NodeJS.ReadableStream): Promise<string[]> {
  const told: string[] = []
  let left = 0
  for await (const line of createInterface({ input: output })) {
    console.log(line)
    if (BREAK_OFF.test(line)) left = LINES_OF_A_BREAK_OFF
    if (left-- > 0) told.push(line)
  }
  return told
}
