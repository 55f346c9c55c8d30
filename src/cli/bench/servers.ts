import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { onAbort } from '../../core/abortable.ts'
import { CommandError } from '../exit-codes.ts'
import { benchConfig } from './bench-config.ts'

const LONGEST_START_MS = 60_000
const LONGEST_STOP_MS = 5000
const MOST_LOG = 64 * 1024
const LAST_WORDS = 2000

/** What is measured: the stand-in for a provider, and a gateway before it. */
export interface BenchServers extends AsyncDisposable {
  readonly upstreamUrl: string
  readonly gatewayUrl: string
}

/** Starts both, on ports of this machine's loopback, with an empty data folder. Throws `CommandError` with the gateway's last words. */
export async function startServers(pipeline: string | undefined, signal: AbortSignal): Promise<BenchServers> {
  await using owned = new AsyncDisposableStack()
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const upstream = fork(fileURLToPath(new URL('./upstream.ts', import.meta.url)), { env: plainEnvironment() })
  owned.defer(() => stop(upstream))
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_START_MS)])
  const [upstreamPort] = await once(upstream, 'message', { signal: inTime })
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`
  const file = path.join(folder, 'turnpike.yaml')
  const places = { upstreamUrl, dataDir: path.join(folder, 'data'), pipeline }
  // It may hold what plugins are given in secret.
  writeFileSync(
    file,
    benchConfig((name) => readFileSync(name, 'utf8'), process.env, places),
    { mode: 0o600 },
  )
  const gateway = startGateway(file)
  owned.defer(() => stop(gateway))
  const gatewayUrl = await untilListening(gateway, signal)
  const kept = owned.move()
  return { upstreamUrl, gatewayUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** The settings and credentials of the user's shell reach no process of a benchmark. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR }
}

function startGateway(configFile: string): ChildProcess {
  const guard = new URL('./loopback-only.ts', import.meta.url).href
  return fork(fileURLToPath(new URL('../../main.ts', import.meta.url)), {
    env: { ...plainEnvironment(), SVC_CONFIG: configFile },
    execArgv: [...process.execArgv, '--import', guard],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

/** Resolves with the address that the gateway's log tells; from then on its log is read and forgotten. */
async function untilListening(gateway: ChildProcess, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let log = ''
  const fail = (why: string) =>
    reject(new CommandError(1, `The gateway to be measured ${why}:\n${log.slice(-LAST_WORDS)}`))
  const timer = setTimeout(() => fail('did not start in time'), LONGEST_START_MS)
  gateway.once('exit', () => fail('has ended'))
  onAbort(signal, () => reject(signal.reason))
  for (const stream of [gateway.stdout, gateway.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      if (log.length < MOST_LOG) log += piece
      const [, port] = /"port":(\d+)[^\n]*"gateway\.listening"/.exec(log) ?? []
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
    })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit', { signal: AbortSignal.timeout(LONGEST_STOP_MS) }).catch(() => child.kill('SIGKILL'))
}
