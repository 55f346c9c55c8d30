import { spawn } from 'node:child_process'
import path from 'node:path'
import { eventually } from './eventually.ts'

/** A command that runs until it is stopped. */
export interface RunningCommand {
  stdout(): string
  stderr(): string
  /** Resolves when standard output and error together hold this. */
  until(text: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Closes the reading end of its standard output, as `head` does. */
  stopReading(): void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')

/** Starts `turnpike …` in a process of its own; nothing is inherited but PATH and HOME. */
export function startCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [path.join(PROJECT_ROOT, 'bin/turnpike.mjs'), ...args], {
    cwd: PROJECT_ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      said[name] += piece
    })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<Awaited<RunningCommand['ended']>>((resolve) => {
    child.once('close', (code, signal) => {
      process.off('exit', kill)
      resolve({ code, signal })
    })
  })
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    until: (text) => eventually(() => (said.stdout + said.stderr).includes(text), text),
    signal: (name) => void child.kill(name),
    stopReading: () => void child.stdout.destroy(),
    ended,
  }
}
