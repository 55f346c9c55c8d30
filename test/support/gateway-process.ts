import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drill, startClustered } from './clustered.ts'
import { type Environment, type Exit, type Gateway, gatewayEnvironment, keepsOwnSqlite } from './gateway.ts'
import { putTables } from './sqlite-tables.ts'
import { type StartedProcess, startProcess } from './start-process.ts'

/** A gateway in a process of its own. */
export interface GatewayProcess extends Gateway {
  pid: number
  /** Resolves when the process has ended, for any reason. */
  exited: Promise<Exit>
  /** Ends the process group: SIGTERM, after `graceMs` (default 5,000) SIGKILL. Its data are removed. */
  stop(graceMs?: number): Promise<Exit>
}

/** Options of a start; the defaults are those of a user at the project's root. */
export interface GatewayProcessOptions {
  /** Default `bin/turnpike.mjs`. */
  entry?: string
  /** Arguments after `start`. Default: none. */
  args?: readonly string[]
  /** Working directory. Default: the project's root. */
  cwd?: string
  /** Longest wait for `/health` in milliseconds. Default 50,000. */
  waitMs?: number
  /** Host of the process. Default: this one, on 127.0.0.1. */
  host?: Host
}

/** A host that a gateway can run on. */
export interface Host {
  /** Its address, on which the gateway listens. */
  readonly address: string
  /** Command that runs a program there, with its first words; empty: none. */
  readonly runner: readonly string[]
}

const THIS_HOST: Host = { address: '127.0.0.1', runner: [] }

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..')
const POLL_MS = 25
/** Limit of concurrent starts: each takes a second of CPU, and tests of a file that all start one would wait for all. */
const MOST_STARTING = 2
const DEFAULT_WAIT_MS = 50_000
const DEFAULT_GRACE_MS = 5000

/**
 * For tests about a process: signals and kills, memory and open files, arguments, a host, an environment that only a
 * process has (`NODE_OPTIONS`, a proxy's variables), several gateways of one service. Everything else uses `startGateway`.
 *
 * Starts the gateway as a user does, in a process group of its own, on a port that the system assigns, with an empty
 * data folder. `env` overrides the test's defaults. Rejects, with the log in the message, when it exits, or does not
 * print its port and answer `/health`.
 */
export async function startGatewayProcess(
  env: Environment = {},
  options: GatewayProcessOptions = {},
): Promise<GatewayProcess> {
  const startOne = async (environment: Environment) => {
    const leave = await enterStart()
    try {
      return await startNow(environment, options)
    } finally {
      leave()
    }
  }
  // A test with options of the process is about that process.
  const isPlain = options.entry === undefined && options.args === undefined && options.host === undefined
  return drill !== undefined && isPlain ? startClustered(drill, env, startOne) : startOne(env)
}

const queue: (() => void)[] = []
let starting = 0

/** Resolves when fewer than `MOST_STARTING` are starting, with a function to call at the end of the start. */
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
  env: Environment,
  {
    entry = path.join(PROJECT_ROOT, 'bin/turnpike.mjs'),
    args = [],
    cwd = PROJECT_ROOT,
    waitMs = DEFAULT_WAIT_MS,
    host = THIS_HOST,
  }: GatewayProcessOptions,
): Promise<GatewayProcess> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'turnpike-test-'))
  if (keepsOwnSqlite(env)) await putTables(dataFolder)
  const open = host === THIS_HOST ? {} : { SVC_LOCAL_OPEN: 'yes' }
  const [program, ...words] = [...host.runner, process.execPath, entry, 'start', ...args] as [string, ...string[]] // safe: not empty
  const child = await startProcess(program, words, {
    cwd,
    env: { ...gatewayEnvironment({ dataFolder, address: host.address }), ...open, ...env },
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

function collectLog({ stdout, stderr }: StartedProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  }
  return () => text
}

function toExit(child: StartedProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** Signals the group, which may have ended already, as it should. */
function signalGroup({ pid }: StartedProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {}
}

/** The gateway's port in its greeting, and in its log. */
const PORT_PRINTED = /turnpike +http:\/\/[^ ]*:(\d+)|"port":(\d+)/

interface Starting extends Pick<GatewayProcess, 'log' | 'exited'> {
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
    const [, shown, logged] = PORT_PRINTED.exec(log()) ?? []
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
