/**
 * `npm test`: the checks, side by side, and the tests. The first npm script that fails ends it and is named.
 * The tests come last, so that the output ends with their summary, and with the reasons of aborted files, which the
 * summary only counts.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { folderToRun } from '../bin/bundle.mjs'
import { nameSources } from './bundle/source-places.ts'

/** Steps of a lane run in sequence; lanes run concurrently, each on a core. */
const CHECKS = [['check:types'], ['check:lint', 'check:unused', 'check:docs', 'check:examples']]
const STEPS = [
  'build:dashboard',
  // Processes of the gateway start from the bundle in half the time, if it is current.
  ...(folderToRun() === 'dist' ? [] : ['build:gateway']),
  'services',
  'tests',
]
const BREAK_OFF = /^\s*(Uncaught exception|Unhandled rejection) in /
const LINES_OF_A_BREAK_OFF = 25
/**
 * A run without a line for so long is ended: AVA never stops waiting for a thread that does not end. Longer than any test may
 * take, which prints nothing until it ends. In milliseconds.
 */
const MOST_SILENCE_MS = Number(process.env.TURNPIKE_TEST_SILENCE_MS ?? 6 * 60_000)
/** Time that tests without a line have to end what they have started. In milliseconds. */
const GRACE_MS = 5000
/**
 * Memory disk for hundreds of databases that live for seconds: on a disk, tests would wait for it and for each other.
 */
const MEMORY_DISK = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** Signals that end the run, and all that it has started. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const
const IS_WINDOWS = process.platform === 'win32'
const running = new Set<ChildProcess>()
for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]))
process.once('exit', () => signalAll('SIGTERM'))

const folder = makeFolder()
if (folder !== undefined) process.env.TMPDIR = folder
process.once('exit', removeFolder)

await Promise.all(CHECKS.map((lane) => runLane(lane)))
for (const step of STEPS) {
  console.log(`\n▸ npm run ${step}`)
  const servers = step === 'tests' ? await startServers() : undefined
  const child = start(step, {
    stdio: ['inherit', process.stdout.isTTY ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, ...servers?.env },
  })
  const ended = once(child, 'close')
  const aborts = child.stdout ? await passOn(child.stdout) : []
  const [status] = await ended
  await servers?.browser.close()
  if (status === 0) continue
  if (step === 'tests') console.error(aborts.join('\n'))
  stopAt(step, status)
}

/** Runs steps in sequence, and prints the output of each at its end. */
async function runLane(steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    const child = start(step, { stdio: ['inherit', 'pipe', 'pipe'] })
    const output: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => output.push(piece))
    const [status] = await once(child, 'close')
    console.log(`\n▸ npm run ${step}`)
    process.stdout.write(Buffer.concat(output))
    if (status !== 0) stopAt(step, status)
  }
}

function start(step: string, options: SpawnOptions): ChildProcess {
  // On Windows npm is a script that only a shell can start.
  const child = spawn('npm', ['run', '--silent', step], {
    shell: IS_WINDOWS,
    detached: !IS_WINDOWS,
    ...options,
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** Signals the steps that run, with all that they have started. */
function signalAll(signal: NodeJS.Signals): void {
  for (const child of running) {
    // Windows has no groups of processes.
    if (IS_WINDOWS) child.kill(signal)
    else if (child.pid !== undefined) signalGroup(child.pid, signal)
  }
}

function stopAt(step: string, status: number | null): never {
  if (step !== 'tests') console.error(`\n✗ npm test stopped at \`npm run ${step}\`.`)
  process.exit(status ?? 1)
}

/**
 * Starts one server of each kind for all files of the run, which use databases and browser profiles of their own. The
 * browser is to be closed; the others end with this process.
 */
async function startServers() {
  // Imported after the step that installs the servers: they look for them.
  const { startBrowserServer } = await import('../test/support/browser.ts')
  const { createPostgres } = await import('../test/support/postgres.ts')
  const { createRedis, isRedisExpected, MOST_DATABASES } = await import('../test/support/redis.ts')
  const owner = { teardown: () => {} }
  const [postgres, browser, redis] = await Promise.all([
    createPostgres(owner),
    startBrowserServer(),
    isRedisExpected ? createRedis(owner, MOST_DATABASES) : undefined,
  ])
  const { pid } = browser.process()
  // With its helpers; asked to end, it would first write to its profile.
  process.once('exit', () => pid !== undefined && signalGroup(pid, 'SIGKILL'))
  // Removed after the servers have ended, which write to it.
  process.off('exit', removeFolder)
  process.once('exit', removeFolder)
  const env = {
    TURNPIKE_TEST_POSTGRES: await postgres.createDatabase(),
    TURNPIKE_TEST_CHROMIUM: browser.wsEndpoint(),
    ...(redis !== undefined && { TURNPIKE_TEST_REDIS: redis.url }),
  }
  return { env, browser }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

/** Creates a temporary folder in memory, where there is enough. */
function makeFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK)
    if (bavail * bsize < ENOUGH_BYTES) return undefined
    const made = mkdtempSync(path.join(MEMORY_DISK, 'turnpike-tests-'))
    chmodSync(made, 0o711) // PostgreSQL runs as another user
    return made
  } catch {
    return undefined
  }
}

function removeFolder(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Prints each line as it arrives, with positions in the sources; returns those that report an abort. Ends a silent run. */
async function passOn(output: NodeJS.ReadableStream): Promise<string[]> {
  const aborts: string[] = []
  let left = 0
  const silence = setTimeout(() => {
    console.error(
      `\n✗ npm test was ended: no line for ${MOST_SILENCE_MS / 1000} s, as when the thread of a test does not end.`,
    )
    signalAll('SIGTERM')
    // A thread that does not end keeps its process from ending, too.
    setTimeout(() => {
      signalAll('SIGKILL')
      process.exit(1)
    }, GRACE_MS)
  }, MOST_SILENCE_MS)
  for await (const text of createInterface({ input: output })) {
    silence.refresh()
    const line = nameSources(text)
    console.log(line)
    if (BREAK_OFF.test(line)) left = LINES_OF_A_BREAK_OFF
    if (left-- > 0) aborts.push(line)
  }
  clearTimeout(silence)
  return aborts
}
