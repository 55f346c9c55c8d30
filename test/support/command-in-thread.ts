import { AsyncLocalStorage } from 'node:async_hooks'
import { Writable } from 'node:stream'
import { type CommandResult, LONGEST_RUN_MS } from './command-line.ts'
import { collectHeldResources } from './held-resources.ts'

/** Environment and output of a command that runs in this thread. */
interface Terminal {
  readonly env: Readonly<Record<string, string>>
  readonly stdout: Writable
  readonly stderr: Writable
}

/** Wait for a command's sockets and threads to close after its end. */
const CLOSES_WITHIN_MS = 5000
let isRedirected = false
const terminals = new AsyncLocalStorage<Terminal>()

/** End of the latest command: one at a time, since the exit code belongs to the thread. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `turnpike …` in the test's thread: the same command line, environment, output and exit code as `runCommand`, without
 * the 0.3 s of CPU that a process and its modules take. The working directory is the project's root, stdin is not read.
 * A command about a process (signals, pipes, stdin, arguments of Node, a working directory) uses `runCommand`.
 * Rejects after 30 seconds, and for a command that leaves open what would keep its process running.
 */
export function runCommandInThread(
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<CommandResult> {
  const result = last.then(() => runNow(args, env))
  last = result.catch(() => {})
  return result
}

async function runNow(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  redirectProcess()
  const { runCommandLine } = await import('../../src/cli/main.ts')
  const { PATH = '', HOME = '' } = process.env
  const output = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof output) =>
    new Writable({
      decodeStrings: false,
      write(text: string | Buffer, _encoding, done) {
        output[name] += text
        done()
      },
    })
  const terminal = { env: { PATH, HOME, ...env }, stdout: collect('stdout'), stderr: collect('stderr') }
  const before = process.exitCode
  process.exitCode = undefined
  const resources = collectHeldResources(() => terminals.getStore() === terminal)
  const running = terminals.run(terminal, () => runCommandLine(['node', 'turnpike', ...args]))
  try {
    await within(running, `turnpike ${args.join(' ')}`)
    const code = Number(process.exitCode ?? 0)
    const left = await resources.left(CLOSES_WITHIN_MS)
    if (left.length > 0) throw new Error(`\`turnpike ${args.join(' ')}\` has ended and holds ${left.join(', ')}`)
    return { code, ...output }
  } finally {
    process.exitCode = before
  }
}

async function within(running: Promise<void>, what: string): Promise<void> {
  const late = Promise.withResolvers<never>()
  const error = new Error(`Expected the end of \`${what}\` within ${LONGEST_RUN_MS} ms`)
  const timer = setTimeout(() => late.reject(error), LONGEST_RUN_MS)
  await Promise.race([running, late.promise]).finally(() => clearTimeout(timer))
}

/** Gives commands their own environment and streams; all else in the thread keeps the process's. */
function redirectProcess(): void {
  if (isRedirected) return
  isRedirected = true
  for (const name of ['env', 'stdout', 'stderr'] as const) {
    const own = process[name]
    Object.defineProperty(process, name, { configurable: true, get: () => terminals.getStore()?.[name] ?? own })
  }
}
