import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once as eventOf } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres, type PostgresPrograms } from '../../scripts/find-postgres.ts'
import { eventually } from './eventually.ts'
import { HERE } from './here.ts'
import { once } from './once.ts'
import { freePort } from './ports.ts'

/** The server of the whole run, which `npm test` starts: `postgresql://user@host:port/postgres`. */
const SHARED = process.env.TURNPIKE_TEST_POSTGRES
/** Searched on first use: files of a run that has a server need none. */
const programs = once(findPostgres)

/** True if tests with PostgreSQL run: where it is installed, and on a build server, where a missing one is a failure. */
export const isPostgresExpected = SHARED !== undefined || programs() !== undefined || Boolean(process.env.CI)

/** Returns whether tests of both engines run on this one: a file about something else uses SQLite only. */
export function isUsed(engine: 'sqlite' | 'postgres'): boolean {
  return (process.env.TURNPIKE_TEST_ENGINE ?? engine) === engine
}

/** A PostgreSQL server of a test file's own. */
export interface Postgres {
  /** Creates an empty database and returns its address. */
  createDatabase(): Promise<string>
  /** Stops answering, with its connections open. */
  freeze(): void
  thaw(): void
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Owner that ends the server: a test's `t`, or `{ teardown: test.after.always }` for a whole file. */
export interface Owner {
  teardown(end: () => Promise<void>): void
}

let ownServer: Promise<string> | undefined

/**
 * Creates a database and returns its address: on the server of the run, or on one of this file's own that ends with
 * its thread. It is empty, or a copy of `template`. A test that freezes, kills or restarts a server uses `createPostgres`.
 */
export async function createDatabase(template?: string): Promise<string> {
  const server = await serverUrl()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(server, `create database ${name}${template === undefined ? '' : ` template ${template}`}`)
  const address = new URL(server)
  address.pathname = name
  return String(address)
}

/** Returns the address of a database of that server that no test uses. */
export async function serverUrl(): Promise<string> {
  if (SHARED !== undefined) return SHARED
  ownServer ??= createPostgres({ teardown: () => {} }).then((server) => server.createDatabase())
  return ownServer
}

/** Starts a server on a free port of loopback, its data in a temporary folder. */
export async function createPostgres(owner: Owner): Promise<Postgres> {
  const found = programs()
  if (found === undefined) throw new Error('The test needs PostgreSQL: `npm run services` explains how to get it.')
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-postgres-'))
  const runner = findRunner()
  if (runner.uid !== undefined && runner.gid !== undefined) chownSync(folder, runner.uid, runner.gid)
  const server = new Server({ programs: found, runner, folder, port })
  owner.teardown(() => server.remove())
  await server.initialize()
  await server.start()
  let databases = 0
  return {
    createDatabase: async () => {
      const name = `test_${++databases}`
      await query(server.url('postgres'), `create database ${name}`)
      return server.url(name)
    },
    freeze: () => server.signal('SIGSTOP'),
    thaw: () => server.signal('SIGCONT'),
    kill: () => server.kill(),
    start: () => server.start(),
  }
}

const MOST_CONNECTIONS = 8
const KEPT_IDLE_MS = 1000
const pools = new Map<string, pg.Pool>()

/** Sends one statement. Connections are kept for the next: the server starts a process for each. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  return (await poolOf(url).query(text)).rows
}

/** Returns the pool of a database; idle, it keeps no thread alive. */
function poolOf(connectionString: string): pg.Pool {
  const known = pools.get(connectionString)
  if (known !== undefined) return known
  const waiting = { idleTimeoutMillis: KEPT_IDLE_MS, allowExitOnIdle: true }
  const pool = new pg.Pool({ connectionString, max: MOST_CONNECTIONS, ...waiting })
  pool.on('error', () => {}) // an idle connection of a stopped server: the pool drops it
  pools.set(connectionString, pool)
  return pool
}

interface Runner {
  readonly uid?: number
  readonly gid?: number
}

/** Finds the user to run the server: it refuses root, and its package creates a user for it. */
function findRunner(): Runner {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((word) =>
    Number(spawnSync('id', [word, 'postgres'], { encoding: 'utf8' }).stdout),
  )
  if (!uid || !gid) throw new Error('PostgreSQL does not run as root, and there is no user `postgres`.')
  return { uid, gid }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself.
  }
}

interface ServerOptions {
  readonly programs: PostgresPrograms
  readonly runner: Runner
  readonly folder: string
  readonly port: number
}

class Server {
  readonly #options: ServerOptions
  #child: ChildProcess | undefined
  /** Stops the server when a test file breaks off. */
  readonly #killOnExit = () => {
    this.signal('SIGKILL')
    this.#removeFolder()
  }

  constructor(options: ServerOptions) {
    this.#options = options
    process.once('exit', this.#killOnExit)
  }

  url(database: string): string {
    return `postgresql://turnpike@${HERE}:${this.#options.port}/${database}`
  }

  async initialize(): Promise<void> {
    const words = ['-D', this.#data, '-U', 'turnpike', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await promisify(execFile)(this.#program('initdb'), words, this.#how)
    // Only tests reach the address that it listens on.
    appendFileSync(path.join(this.#data, 'pg_hba.conf'), '\nhost all all samenet trust\n')
  }

  async start(): Promise<void> {
    const { port, folder } = this.#options
    // The tests end processes, never the machine: waiting for the disk would only take time.
    const settings = [
      'fsync=off',
      `listen_addresses=${HERE}`,
      `unix_socket_directories=${folder}`,
      'max_connections=500',
      'dynamic_shared_memory_type=mmap', // in its folder: a server that is killed leaves none of it behind
    ]
    const words = ['-D', this.#data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    this.#child = spawn(this.#program('postgres'), words, { ...this.#how, stdio: 'ignore' })
    this.#child.unref()
    await eventually(
      () =>
        query(this.url('postgres'), 'select 1').then(
          () => true,
          () => false,
        ),
      'PostgreSQL answers',
    )
  }

  /** Signals the server and its processes, one for each connection. */
  signal(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child ?? {}
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    for (const each of [pid, ...children.map(Number)]) kill(each, signal)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    const exited = eventOf(child, 'exit')
    this.signal('SIGKILL')
    await exited
  }

  async remove(): Promise<void> {
    process.off('exit', this.#killOnExit)
    await this.kill()
    this.#removeFolder()
  }

  #removeFolder(): void {
    rmSync(this.#options.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  get #data(): string {
    return path.join(this.#options.folder, 'data')
  }

  get #how(): Runner & { cwd: string; env: NodeJS.ProcessEnv } {
    const { programs, runner, folder } = this.#options
    return { ...runner, cwd: folder, env: { ...process.env, ...programs.env } }
  }

  #program(name: string): string {
    return path.join(this.#options.programs.bin, name)
  }
}
