import { execFile } from 'node:child_process'
import path from 'node:path'

/** How a command ended, and what it has said. */
export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** How to run a command; the defaults are those of a user at the project's root. */
export interface CommandOptions {
  /** Nothing else is inherited but PATH and HOME. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  /** Default `bin/turnpike.mjs`. */
  entry?: string
  /** The Node that runs it. Default: that of the test. */
  node?: string
  /** How long it may run, in milliseconds. Default 30,000. */
  longestMs?: number
}

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')
const LONGEST_RUN_MS = 30_000

/** Runs `turnpike …` in a process of its own. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const {
    env = {},
    cwd = PROJECT_ROOT,
    entry = path.join(PROJECT_ROOT, 'bin/turnpike.mjs'),
    node = process.execPath,
    longestMs = LONGEST_RUN_MS,
  } = options
  const inherited = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  return new Promise((resolve) => {
    const settings = { cwd, env: { ...inherited, ...env }, timeout: longestMs }
    execFile(node, [entry, ...args], settings, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })
}
