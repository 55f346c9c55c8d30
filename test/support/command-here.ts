import { AsyncLocalStorage } from 'node:async_hooks'
import { Writable } from 'node:stream'
import type { CommandResult } from './command-line.ts'

/*
 * DESIGN. Runs commands in the test's own thread, in a tenth of a process's time. A command reads and writes the globals of
 * its process: here `process.env`, `process.stdout` and `process.stderr` are those of the command for its own calls, and
 * stay the thread's for others, such as a gateway of the same test. The exit code has no such property, so commands run one
 * after another.
 */
interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Writable
  readonly stderr: Writable
}

const running = new AsyncLocalStorage<Surroundings>()
let last: Promise<unknown> = Promise.resolve()

for (const name of ['env', 'stdout', 'stderr'] as const) {
  const own = process[name]
  Object.defineProperty(process, name, { configurable: true, get: () => running.getStore()?.[name] ?? own })
}

/**
 * Runs `turnpike …` at the project's root, in this thread. All of the environment besides `env` is PATH and HOME. For
 * commands that start a process, read standard input or wait for a signal, and for an exit: `runCommand`.
 */
export function runCommandHere(
  args: readonly string[],
  { env = {} }: { env?: Readonly<Record<string, string>> } = {},
): Promise<CommandResult> {
  const result = last.then(() => run(args, env))
  last = result.catch(() => {})
  return result
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  const { runCommandLine } = await import('../../src/cli/main.ts')
  const { PATH = '', HOME = '' } = process.env
  const written = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof written) =>
    new Writable({
      decodeStrings: false,
      write: (text, _, done) => {
        written[name] += text
        done()
      },
    })
  const surroundings = { env: { PATH, HOME, ...env }, stdout: collect('stdout'), stderr: collect('stderr') }
  const { exitCode } = process
  const { prepareStackTrace } = Error
  process.exitCode = 0
  try {
    await running.run(surroundings, () => runCommandLine([process.execPath, 'turnpike', ...args]))
    return { code: Number(process.exitCode), ...written }
  } finally {
    process.exitCode = exitCode
    Object.assign(Error, { prepareStackTrace })
  }
}
