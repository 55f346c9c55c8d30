import { availableParallelism } from 'node:os'
import path from 'node:path'
import { runProcess } from './start-process.ts'

/** Exit code and output of a command. */
export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** Options of a run; the defaults are those of a user at the project's root. */
export interface CommandOptions {
  /** All that is inherited besides is PATH and HOME. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  /** Default `bin/turnpike.mjs`. */
  entry?: string
  /** The Node that runs it. Default: that of the test. */
  node?: string
  /** Time limit in milliseconds. Default 30,000. */
  longestMs?: number
}

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')
/** Default time limit of a command in milliseconds. */
export const LONGEST_RUN_MS = 30_000
/** Limit of processes: tests of a file run at once, and more would only wait for each other, beyond their time limit. */
const MOST_AT_ONCE = 2 * availableParallelism()
const waiting: (() => void)[] = []
let running = 0

/** Runs `turnpike …` in a process of its own; at most a few run at once. */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  if (running >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await runNow(args, options)
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function runNow(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const {
    env = {},
    cwd = PROJECT_ROOT,
    entry = path.join(PROJECT_ROOT, 'bin/turnpike.mjs'),
    node = process.execPath,
    longestMs = LONGEST_RUN_MS,
  } = options
  const inherited = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  const { code, ...said } = await runProcess(node, [entry, ...args], {
    cwd,
    env: { ...inherited, ...env },
    longestMs,
  })
  return { code: code ?? -1, ...said }
}
