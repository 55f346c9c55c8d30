import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once as eventOf } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClient } from '@redis/client'
import { eventually } from './eventually.ts'
import { HERE } from './here.ts'
import { once } from './once.ts'
import { freePort } from './ports.ts'
import type { Owner } from './postgres.ts'

/** The server of the whole run, which `npm test` starts where there is one: `redis://host:port`. */
const SHARED = process.env.TURNPIKE_TEST_REDIS

/** True if tests with Redis run: where it is installed, and on a build server, where a missing one is a failure. */
export const isRedisExpected =
  SHARED !== undefined || spawnSync('redis-server', ['--version']).status === 0 || Boolean(process.env.CI)

/** Databases of the server of the run: more than all tests use. */
export const MOST_DATABASES = 1024

/** A Redis of the test's own. */
export interface Redis {
  url: string
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops answering, with its connections open. */
  freeze(): void
  thaw(): void
}

const server = once(() => createRedis({ teardown: () => {} }, MOST_DATABASES))

/**
 * Returns the address of an empty database: on the server of the run, or on one of this file's own that ends with its thread.
 * A test that freezes, kills or restarts a server uses `createRedis`.
 */
export async function createRedisDatabase(): Promise<string> {
  const url = SHARED ?? (await server()).url
  const client = await createClient({ url }).connect()
  try {
    // The first one counts the others.
    return `${url}/${await client.incr('databases')}`
  } finally {
    client.destroy()
  }
}

/** Starts a Redis with so many databases on a free port; it ends with its owner. */
export async function createRedis(owner: Owner, databases = 16): Promise<Redis> {
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-redis-'))
  let child: ChildProcess | undefined
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    const exited = eventOf(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const killOnExit = () => void child?.kill('SIGKILL')
  process.once('exit', killOnExit)
  owner.teardown(async () => {
    process.off('exit', killOnExit)
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const start = async () => {
    const place = ['--port', String(port), '--bind', HERE, '--dir', folder]
    const isOpen = ['--protected-mode', 'no'] // for the hosts of the cluster's drill
    const options = [...place, ...isOpen, '--save', '', '--appendonly', 'no', '--databases', String(databases)]
    child = spawn('redis-server', options, { stdio: 'ignore' })
    child.unref()
    await eventually(() => canConnect(port), 'Redis takes connections')
  }
  await start()
  return {
    url: `redis://${HERE}:${port}`,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: HERE })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.end())
  })
}
