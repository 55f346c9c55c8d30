import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { drill } from './clustered.ts'
import { DEFAULT_PIPELINE, PIPELINE } from './pipelines.ts'
import { putTables } from './sqlite-tables.ts'

/** Ending of a gateway, like a process's: with an exit code, or cut after its grace. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A gateway that answers. `await using` stops it, and so does `t.teardown(gateway.stop)`. */
export interface Gateway extends AsyncDisposable {
  /** Base address, without a slash at the end. */
  url: string
  port: number
  /** Everything it has written to stdout and stderr. */
  log(): string
  /** Drains and closes it; running requests are cut after `graceMs` (default 5,000). Its data are removed. */
  stop(graceMs?: number): Promise<Exit>
}

/** Environment variables of a gateway. */
export type Environment = Readonly<Record<string, string>>

/** Starts a gateway with these variables: `startGateway`, or `startGatewayProcess`. */
export type Start<Started extends Gateway> = (env: Environment) => Promise<Started>

const DEFAULT_GRACE_MS = 5000
/** A busy machine may take seconds for a command of the database. Tests of the time limit set that of a user. */
const DATABASE_TIMEOUT = '20s'
/** The time limit of commands of the database that a user has. */
export const USUAL_DATABASE_TIMEOUT = { SVC_DATABASE_TIMEOUT: '2s' }
/** The only variables a gateway inherits: a developer's keys and settings must not reach a test. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_V8_COVERAGE']

/**
 * Starts a gateway in the test's own thread, from configuration to listening as `turnpike start` does, on a port that the
 * system assigns, with an empty data folder. `env` overrides the test's defaults; it reaches the configuration, not the
 * process. Rejects with the start's explanation and the log. A gateway that must be a process: `startGatewayProcess`.
 */
export async function startGateway(env: Environment = {}): Promise<Gateway> {
  if (drill !== undefined) {
    const { startGatewayProcess } = await import('./gateway-process.ts')
    return startGatewayProcess(env)
  }
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'turnpike-test-'))
  if (keepsOwnSqlite(env)) await putTables(dataFolder)
  const output: string[] = []
  const environment = { ...gatewayEnvironment({ dataFolder, address: '127.0.0.1' }), ...env }
  const removeData = () => rm(dataFolder, { recursive: true, force: true })
  const opened = await openHere(environment, output).catch(async (error: Error) => {
    await removeData()
    throw error
  })
  const end = async (graceMs: number) => {
    const exit: Exit = { code: 0, signal: null }
    const cut = () => {
      Object.assign(exit, { code: null, signal: 'SIGKILL' })
      opened.cut()
    }
    const timer = setTimeout(cut, graceMs)
    await opened.stop()
    clearTimeout(timer)
    await removeData()
    return exit
  }
  let ending: Promise<Exit> | undefined
  const stop = (graceMs = DEFAULT_GRACE_MS) => {
    ending ??= end(graceMs)
    return ending
  }
  const { port } = opened
  const log = () => {
    opened.flush()
    return output.join('')
  }
  return { url: `http://127.0.0.1:${port}`, port, log, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}

/** Returns true for a gateway whose data folder is its own, and has its databases. */
export function keepsOwnSqlite(env: Environment): boolean {
  return env.SVC_DATA_DIR === undefined && env.DATABASE_URL === undefined
}

/** Loads the gateway's modules only where a test has one in its thread. */
async function openHere(env: Environment, output: string[]) {
  const [{ loadConfig }, { createLogging }, { openGateway }, { explainStartFailure }] = await Promise.all([
    import('../../src/config/load.ts'),
    import('../../src/logging/log.ts'),
    import('../../src/app/gateway.ts'),
    import('../../src/app/start-failure.ts'),
  ])
  const write = (bytes: Buffer) => {
    output.push(bytes.toString())
    return bytes.length
  }
  try {
    const loaded = loadConfig(env)
    const logging = await createLogging({ level: loaded.config.log_level, isTerminal: false, write })
    const gateway = await openGateway({ loaded, logging, startedAtMs: Date.now() })
    output.push(gateway.banner, await gateway.firstOperatorNote())
    return { ...gateway, flush: logging.flush }
  } catch (error) {
    throw new Error(`${explainStartFailure(error)}\n--- log ---\n${output.join('')}`, {
      cause: error,
    })
  }
}

/** Returns the initial variables of a test's gateway. */
export function gatewayEnvironment({ dataFolder, address }: { dataFolder: string; address: string }): Environment {
  const inherited = INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))
  // The gateway chooses the default pipeline itself, so that a changed default is noticed.
  const pipeline = PIPELINE === DEFAULT_PIPELINE ? {} : { SVC_PIPELINE: PIPELINE }
  const place = { HOST: address, PORT: '0', SVC_DATA_DIR: dataFolder }
  const settings = { LOG_LEVEL: 'info', SVC_DATABASE_TIMEOUT: DATABASE_TIMEOUT, ...pipeline }
  return { ...Object.fromEntries(inherited), ...place, ...settings }
}
