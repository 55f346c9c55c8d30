import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { processTree, residentBytes } from './process-accounting.ts'
import type { Place, Target } from './targets.ts'

const LONGEST_START_MS = 40_000
const LONGEST_STOP_MS = 8_000

/** Started target: its address and the headers that reach it. */
export interface Gateway {
  target: Target
  origin: string
  headers: Record<string, string>
  /** Living processes; none for the direct line. */
  pids(): number[]
  startRssBytes: number
  stop(): Promise<void>
}

/**
 * Starts `target` on a free port with data and log under `folder`; resolves when it replies. Throws with its last
 * output.
 */
export async function startGateway(
  target: Target,
  { folder, ...servers }: Pick<Place, 'upstreamOrigin' | 'cloud'> & { folder: string },
): Promise<Gateway> {
  const { upstreamOrigin } = servers
  const place: Place = { ...servers, port: await freePort(), dataDir: join(folder, 'data') }
  const headers = target.headers(place)
  const { args, environment } = target
  if (!args) return { target, origin: upstreamOrigin, headers, pids: () => [], startRssBytes: 0, stop: async () => {} }
  mkdirSync(place.dataDir, { recursive: true })
  const logFile = join(folder, 'log')
  const child = startNode(args, { ...environment?.(place) }, logFile)
  const origin = `http://127.0.0.1:${place.port}`
  await waitUntilReady(child, origin + target.readyPath, logFile)
  const pids = () => processTree(child.pid!) // It answered, so it was spawned.
  Object.assign(headers, await target.signUp?.(origin))
  const endWatch = target.watchedPath === undefined ? undefined : await watch(origin + target.watchedPath)
  const stop = async () => {
    endWatch?.()
    await stopProcesses(child)
  }
  return { target, origin, headers, pids, startRssBytes: residentBytes(pids()), stop }
}

/** Reads a stream and throws its bytes away. Returns how to end it. Rejects when it does not open. */
async function watch(url: string): Promise<() => void> {
  const ending = new AbortController()
  const { statusCode, body } = await request(url, { signal: ending.signal, bodyTimeout: 0 })
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}.`)
  body.on('error', () => {}).resume() // It ends with an error when it is aborted.
  return () => ending.abort()
}

/** Starts the stand-in upstream; `how` is its environment. */
export async function startUpstream(
  folder: string,
  how: Record<string, string> = {},
): Promise<{ origin: string; pids(): number[]; stop(): Promise<void> }> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const logFile = join(folder, 'upstream.log')
  const child = startNode([new URL('upstream.ts', import.meta.url).pathname], { PORT: String(port), ...how }, logFile)
  await waitUntilReady(child, origin, logFile)
  return { origin, pids: () => processTree(child.pid!), stop: () => stopProcesses(child) } // It answered, so it was spawned.
}

/** Starts Node with a clean environment, so that the settings of the caller's shell reach no gateway. */
function startNode(args: string[], environment: Record<string, string>, logFile: string): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
  const log = openSync(logFile, 'a')
  const env = { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...environment }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

async function waitUntilReady(child: ChildProcess, url: string, logFile: string): Promise<void> {
  const deadlineMs = Date.now() + LONGEST_START_MS
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadlineMs) {
    const reply = await request(url, { headersTimeout: 2_000 }).catch(() => undefined)
    await reply?.body.dump()
    if (reply?.statusCode === 200) return
    await sleep(100)
  }
  await stopProcesses(child)
  const lastWords = readFileSync(logFile, 'utf8').trim().split('\n').slice(-6).join('\n  ')
  throw new Error(`It did not answer 200 at ${url}. Its last output:\n  ${lastWords}`)
}

async function stopProcesses(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const descendants = processTree(child.pid).slice(1)
  child.kill('SIGTERM')
  await once(child, 'exit', { signal: AbortSignal.timeout(LONGEST_STOP_MS) }).catch(() => child.kill('SIGKILL'))
  descendants.forEach(killIfAlive)
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with its parent, as it should.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address && typeof address === 'object') return address.port
  throw new Error('The system has no free port.')
}
