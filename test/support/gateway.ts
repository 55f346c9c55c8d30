import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drill, startClustered } from './clustered.ts'
import { DEFAULT_PIPELINE, PIPELINE } from './pipelines.ts'

/** How a gateway process ended. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A gateway running as a process of its own. `await using` stops it, and so does `t.teardown(gateway.stop)`. */
export interface Gateway extends AsyncDisposable {
  /** Base address, without a slash at the end. */
  url: string
  port: number
  pid: number
  /** Everything it has written to stdout and stderr. */
  log(): string
  /** Resolves when the process has ended, however it ended. */
  exited: Promise<Exit>
  /** Ends the process group: SIGTERM, after `graceMs` (default 5,000) SIGKILL. Its data are removed. */
  stop(graceMs?: number): Promise<Exit>
}

/** How to start a gateway; the defaults are those of a user at the project's root. */
export interface GatewayOptions {
  /** Default `bin/turnpike.mjs`. */
  entry?: string
  /** Arguments after `start`. Default: none. */
  args?: readonly string[]
  /** Working directory. Default: the project's root. */
  cwd?: string
  /** Longest wait for `/health` in milliseconds. Default 50,000. */
  waitMs?: number
  /** Where it runs. Default: on this host, on 127.0.0.1. */
  host?: Host
}

/** A host that a gateway can run on. */
export interface Host {
  /** Its address, on which the gateway listens. */
  readonly address: string
  /** What runs a program there: a command with its first words; empty: nothing special. */
  readonly runner: readonly string[]
}

const THIS_HOST: Host = { address: '127.0.0.1', runner: [] }

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')
const POLL_MS = 25
/** A start takes a second of CPU: a file whose tests all start one at once would wait for all of them. */
const MOST_STARTING = 2
const DEFAULT_WAIT_MS = 50_000
const DEFAULT_GRACE_MS = 5000

/** The only variables a gateway inherits: a developer's keys and settings must not reach a test. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_V8_COVERAGE']

/**
 * Starts the gateway as a user does, in a process group of its own, on a port that the system gives it, with an empty
 * data folder. `env` is laid over the test's defaults. Rejects, with the log in the message, when it exits, or does not
 * tell its port and answer `/health`.
 */
export async function startGateway(
  env: Readonly<Record<string, string>> = {},
  options: GatewayOptions = {},
): Promise<Gateway> {
  const startOne = async (environment: Readonly<Record<string, string>>) => {
    const leave = await enterStart()
    try {
      return await startNow(environment, options)
    } finally {
      leave()
    }
  }
  // Where a test asks for something special of the process, it is about that process.
  const isPlain = options.entry === undefined && options.args === undefined && options.host === undefined
  return drill !== undefined && isPlain ? startClustered(drill, env, startOne) : startOne(env)
}

const queue: (() => void)[] = []
let starting = 0

/** Resolves when fewer than `MOST_STARTING` are starting, with what is to be called when the start is over. */
async function enterStart(): Promise<() => void> {
  if (starting === MOST_STARTING) await new Promise<void>((resolve) => queue.push(resolve))
  else starting++
  return () => {
    const next = queue.shift()
    if (next === undefined) starting--
    else next()
  }
}

async function startNow(
  env: Readonly<Record<string, string>>,
  {
    entry = path.join(PROJECT_ROOT, 'bin/turnpike.mjs'),
    args = [],
    cwd = PROJECT_ROOT,
    waitMs = DEFAULT_WAIT_MS,
    host = THIS_HOST,
  }: GatewayOptions,
): Promise<Gateway> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'turnpike-test-'))
  const open = host === THIS_HOST ? {} : { SVC_LOCAL_OPEN: 'yes' }
  // The default one is left to the gateway, so that a changed default is seen.
  const pipeline = PIPELINE === DEFAULT_PIPELINE ? {} : { SVC_PIPELINE: PIPELINE }
  const defaults = { HOST: host.address, PORT: '0', SVC_DATA_DIR: dataFolder, LOG_LEVEL: 'info', ...pipeline, ...open }
  const [program, ...words] = [...host.runner, process.execPath, entry, 'start', ...args] as [string, ...string[]] // safe: not empty
  const child = spawn(program, words, {
    cwd,
    env: { ...inheritedEnvironment(), ...defaults, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const log = collectLog(child)
  const exited = toExit(child)
  const closed = new Promise((resolve) => child.once('close', resolve)) // all of its log has been read
  const killOnExit = () => signalGroup(child, 'SIGKILL')
  process.once('exit', killOnExit)

  const end = async (graceMs: number) => {
    signalGroup(child, 'SIGTERM')
    const timer = setTimeout(killOnExit, graceMs)
    const exit = await exited
    clearTimeout(timer)
    killOnExit() // a grandchild must not outlive its group's leader
    process.off('exit', killOnExit)
    await closed
    await rm(dataFolder, { recursive: true, force: true })
    return exit
  }
  let ending: Promise<Exit> | undefined
  const stop = (graceMs = DEFAULT_GRACE_MS) => {
    ending ??= end(graceMs)
    return ending
  }
  try {
    const { address } = host
    const port = await waitForHealth({ log, exited, waitMs, address })
    const pid = child.pid as number // safe: it has answered, so it was spawned
    const url = `http://${address}:${port}`
    return { url, port, pid, log, exited, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
  } catch (error) {
    await stop()
    throw new Error(`${(error as Error).message}\n--- log ---\n${log()}`, { cause: error }) // safe: thrown just above
  }
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

function collectLog({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  }
  return () => text
}

function toExit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** The group may be gone already, which is what the signal is for. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {}
}

/** Where a gateway tells its port: to a person, and in its log. */
const PORT_TOLD = /turnpike +http:\/\/[^ ]*:(\d+)|"port":(\d+)/

interface Starting extends Pick<Gateway, 'log' | 'exited'> {
  readonly waitMs: number
  readonly address: string
}

/** Resolves with the port on which it answers. */
async function waitForHealth({ log, exited, waitMs, address }: Starting): Promise<number> {
  let exit: Exit | undefined
  void exited.then((ended) => {
    exit = ended
  })
  const deadline = AbortSignal.timeout(waitMs)
  while (!deadline.aborted) {
    if (exit) throw new Error(`The gateway exited before it answered /health: ${JSON.stringify(exit)}`)
    const [, shown, logged] = PORT_TOLD.exec(log()) ?? []
    const port = Number(shown ?? logged ?? 0)
    if (port > 0 && (await isHealthy(`http://${address}:${port}`, deadline))) return port
    await sleep(POLL_MS)
  }
  throw new Error(`The gateway did not answer /health within ${waitMs} ms`)
}

function isHealthy(url: string, signal: AbortSignal): Promise<boolean> {
  return fetch(`${url}/health`, { signal })
    .then((reply) => reply.ok)
    .catch(() => false)
}
