import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate as inAnotherTurn } from 'node:timers/promises'

/** A process with nothing to read, whose output is piped. */
export interface StartedProcess extends EventEmitter {
  readonly pid?: number | undefined
  readonly stdout: Readable
  readonly stderr: Readable
}

/** Options of a start, as `spawn` has them. */
export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** True for a process that leads a group of its own. */
  readonly detached?: boolean
}

/** Output and end of a process. */
export interface Ended {
  /** `null` after a signal, or where it could not be started. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Message {
  readonly pid?: number
  readonly error?: { readonly code: string; readonly message: string }
  readonly stdout?: string
  readonly stderr?: string
  readonly exit?: { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  readonly closed?: { readonly code: number | null; readonly signal: NodeJS.Signals | null }
}

/** Socket of the process that starts others for the threads of a run (`spawner.mjs`). */
const SPAWNER = process.env.TURNPIKE_TEST_SPAWNER

/**
 * Starts a process from the run's small one, or from this one where there is none. Emits `exit`, `close` and `error` as a
 * `ChildProcess` does; one that cannot be started has no `pid`.
 */
export async function startProcess(
  command: string,
  words: readonly string[],
  options: StartOptions = {},
): Promise<StartedProcess> {
  if (SPAWNER === undefined) return spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const started = new ProcessElsewhere(SPAWNER, { command, words, ...options, env: options.env ?? process.env })
  await started.begun
  return started
}

/** Runs a process to its end, or for `longestMs`, and then ends it. */
export async function runProcess(
  command: string,
  words: readonly string[],
  { longestMs, ...options }: StartOptions & { readonly longestMs: number },
): Promise<Ended> {
  const child = await startProcess(command, words, options)
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      said[name] += piece
    })
  const timer = setTimeout(() => endProcess(child), longestMs)
  const [code] = await once(child, 'close').catch(() => [null])
  clearTimeout(timer)
  return { code, ...said }
}

function endProcess({ pid }: StartedProcess): void {
  try {
    if (pid !== undefined) process.kill(pid)
  } catch {
    // It has ended.
  }
}

class ProcessElsewhere extends EventEmitter implements StartedProcess {
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  pid: number | undefined
  /** Resolves when the process has been started, or could not be. */
  readonly begun: Promise<void>

  constructor(spawner: string, request: object) {
    super()
    const begun = Promise.withResolvers<void>()
    this.begun = begun.promise
    // What comes with the first message is taken when the caller listens.
    let taken = begun.promise.then(() => inAnotherTurn())
    const socket = connect(spawner)
    const lines = createInterface({ input: socket })
    for (const each of [socket, lines]) each.on('error', begun.reject)
    socket.once('close', () => begun.reject(new Error('The process that starts others has ended.')))
    socket.write(`${JSON.stringify(request)}\n`)
    lines.on('line', (line) => {
      const message = JSON.parse(line) as Message // safe: the spawner's own
      if (message.pid !== undefined) this.pid = message.pid
      taken = taken.then(() => this.#take(message))
      begun.resolve()
    })
  }

  async #take({ error, stdout, stderr, exit, closed }: Message): Promise<void> {
    if (error !== undefined) this.emit('error', Object.assign(new Error(error.message), error))
    if (stdout !== undefined) this.stdout.write(Buffer.from(stdout, 'base64'))
    if (stderr !== undefined) this.stderr.write(Buffer.from(stderr, 'base64'))
    if (exit !== undefined) this.emit('exit', exit.code, exit.signal)
    if (closed === undefined) return
    const streams = [this.stdout, this.stderr].map((stream) => finished(stream.resume().end()))
    await Promise.all(streams)
    this.emit('close', closed.code, closed.signal)
  }
}
