/**
 * `npm run drill:bodies`: hostile bodies of 30 MB, one after another, on every route that reads one, with and without a
 * credential, in both modes. The process must live, others must be answered within a second, and memory must grow by at
 * most eight bytes a byte and come back. `-- --mb 4 --only 'content: zeros' --mode cloud --minutes 5` makes it smaller,
 * `--passes 1` shorter, `--all` prints every request.
 *
 * Memory that is left is judged after each of two passes: at most 200 MB above the start, and after the second at most
 * 32 MB more than after the first. The allocator keeps pages that it needed once; a leak grows with each pass
 * (docs/decisions/0075-memory-after-large-bodies.md).
 *
 * Waiting is judged twice. The longest turn of the gateway's loop is counted in CPU, which a busy machine does not change,
 * and bounds every wait. What others really waited is counted without the time for which the system kept threads that a
 * reply waits for from running although they were ready.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { bearer, CLOUD, createKey, sessionToken } from '../support/accounts.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { type ProbedGateway, startProbed } from '../support/probed.ts'
import { cpuMs, forgetPeak, peakBytes, residentBytes } from '../support/process-facts.ts'
import { startDrillProvider } from './drill-provider.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'
import { type LeftMemory, toMb, watchMemory } from './left-memory.ts'
import type { NeighbourReport } from './neighbour.ts'
import { runDelayMs } from './run-delay.ts'

const MB = 1024 * 1024
const LONGEST_WAIT_MS = 1000
const MOST_BYTES_PER_BYTE = 8
/** Memory for code and for a collector that has time, however small the body is. */
const SPARE_BYTES = 64 * MB
const NEIGHBOUR_POLL_MS = 20

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '30' },
    only: { type: 'string' },
    mode: { type: 'string' },
    minutes: { type: 'string', default: '20' },
    passes: { type: 'string', default: '2' },
    all: { type: 'boolean', default: false },
  },
})
const bytes = Number(values.mb) * MB
/** Below the limit of bodies of clients without a credential. */
const STRANGERS_BYTES = Math.min(bytes, 0.9 * MB)
const endsAtMs = Date.now() + Number(values.minutes) * 60_000
const shapes = Object.entries(HOSTILE_BODIES).filter(([shape]) => values.only === undefined || shape === values.only)

interface Target {
  readonly method?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Default: all of it. */
  readonly bytes?: number
}

/** Credentials of a mode: of a caller on the routes of models, and of a user on those of accounts. */
interface Credentials {
  readonly caller: Target['headers']
  readonly user: Target['headers']
  readonly neighbour: string
}

/** A gateway under attack. */
interface Scenario {
  readonly mode: string
  readonly gateway: ProbedGateway
  readonly neighbour: Worker
  readonly waitsMs: number[]
}

/** Measurements of one body. */
interface Figures {
  readonly target: string
  readonly status: number
  readonly ms: number
  readonly cpuMs: number
  readonly turnMs: number
  readonly waitMs: number
  readonly grownBytes: number
  readonly faults: readonly string[]
}

const provider = await startDrillProvider()
let broken = 0
let sent = 0
for (const mode of ['local', 'cloud']) if (values.mode === undefined || values.mode === mode) await drill(mode)
provider.close()
console.log(`${sent} bodies sent, ${broken} broke a bound: ${broken === 0 ? 'all held' : 'FAILED'}`)
process.exit(broken > 0 ? 1 : 0)

async function drill(mode: string): Promise<void> {
  await using gateway = await startProbed({
    ...(mode === 'cloud' && { ...CLOUD, STRIPE_WEBHOOK_SECRET: 'whsec_of_the_drill' }),
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-ant-operator',
    SVC_RATE_LIMIT: '0',
    SVC_MPP: 'on',
    SVC_MPP_SECRET: 'the-secret-of-challenges-of-the-drill-and-nothing-else',
    SVC_MPP_REALM: 'gw.test',
    SVC_MPP_NETWORK_ID: 'profile_test_1',
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_API_BASE: provider.url,
  })
  const credentials = mode === 'cloud' ? await cloudCredentials(gateway) : localCredentials()
  const targets = targetsOf(mode, credentials)
  await warmUp(gateway, targets)
  const neighbour = new Worker(new URL('./neighbour.ts', import.meta.url), {
    workerData: { url: gateway.url, authorization: credentials.neighbour },
  })
  const scenario: Scenario = { mode, gateway, neighbour, waitsMs: [] }
  await sleep(1000)
  const readLeft = watchMemory(gateway.pid)
  for (let pass = 1; pass <= Number(values.passes); pass++) {
    if (!(await sendAll(scenario, targets))) break
    await judge(scenario, pass, await readLeft())
  }
  await neighbour.terminate()
}

/** Sends every shape to every target; whether the time sufficed. */
async function sendAll(scenario: Scenario, targets: readonly Target[]): Promise<boolean> {
  for (const [shape, make] of shapes) {
    if (Date.now() > endsAtMs) {
      console.log(`✗ ${scenario.mode}: not finished within ${values.minutes} minutes`)
      broken++
      return false
    }
    const sizes = new Set(targets.map((target) => target.bytes ?? bytes))
    const bodies = new Map([...sizes].map((size) => [size, Buffer.from(make(size))]))
    await neighbourAnswered(scenario)
    const figures: Figures[] = []
    for (const target of targets)
      figures.push(await attack(scenario, target, bodies.get(target.bytes ?? bytes) as Buffer))
    print(scenario.mode, shape, figures)
  }
  return true
}

function localCredentials(): Credentials {
  return { caller: bearer('attacker'), user: bearer('attacker'), neighbour: 'Bearer neighbour' }
}

async function cloudCredentials(gateway: ProbedGateway): Promise<Credentials> {
  const [{ key }, { key: neighbour }] = [await createKey(gateway, 'attacker'), await createKey(gateway, 'neighbour')]
  return { caller: bearer(key), user: bearer(await sessionToken('attacker')), neighbour: `Bearer ${neighbour}` }
}

/** Lists every route that reads a body, or might. */
function targetsOf(mode: string, { caller, user }: Credentials): Target[] {
  const none = { authorization: undefined }
  const full = { ...caller, 'x-svc-pipe': FULL_PIPELINE }
  const models = ['/v1/messages', '/v1/chat/completions']
  const unpaid = ['/v1/agent/messages', '/v1/agent/quote', '/v1/agent/sessions', '/v1/billing/webhook']
  const control = ['/v1/keys', '/v1/billing/checkout', '/v1/billing/portal', '/dashboard/api/session']
  return [
    ...models.flatMap((path) => [
      { path, headers: caller },
      { path, headers: full },
      { path, headers: { ...caller, 'transfer-encoding': 'chunked' } },
      { path, headers: none },
    ]),
    { path: '/v1/messages/count_tokens', headers: caller },
    { path: '/v1/messages/count_tokens', headers: none },
    ...unpaid.flatMap((path) => [
      { path, headers: none },
      { path, headers: { ...none, 'transfer-encoding': 'chunked' } },
      { path, headers: none, bytes: STRANGERS_BYTES },
    ]),
    ...control.flatMap((path) => [
      { path, headers: none },
      { path, headers: mode === 'cloud' ? user : caller },
      { path, headers: mode === 'cloud' ? user : caller, bytes: 0.1 * MB },
    ]),
    { method: 'PATCH', path: '/v1/keys/key_1', headers: user, bytes: 0.1 * MB },
    { method: 'PATCH', path: '/v1/billing/auto-recharge', headers: user, bytes: 0.1 * MB },
    { method: 'PUT', path: '/dashboard/api/capture', headers: user, bytes: 0.1 * MB },
    { path: '/v1/cache/feedback', headers: caller, bytes: 0.1 * MB },
    ...['/v1/cache/feedback', '/v1/receipts', '/v1/nothing'].map((path) => ({ path, headers: caller })),
  ]
}

/** Loads and compiles code before the measurements. */
async function warmUp(gateway: ProbedGateway, targets: readonly Target[]): Promise<void> {
  for (let i = 0; i < 20; i++)
    for (const { method = 'POST', path, headers } of targets)
      await send(gateway.url, { method, path, headers, body: ask(`a question ${i}`) })
}

async function attack(
  scenario: Scenario,
  { method = 'POST', path, headers, bytes: size }: Target,
  body: Buffer,
): Promise<Figures> {
  const { gateway } = scenario
  await readNeighbour(scenario)
  const cpuBeforeMs = cpuMs(gateway.pid)
  const before = residentBytes(gateway.pid)
  const delayBeforeMs = runDelayMs(gateway.pid)
  forgetPeak(gateway.pid)
  await gateway.report()
  const startedAtMs = performance.now()
  const reply: Pick<Reply, 'status' | 'text'> = await send(gateway.url, {
    method,
    path,
    headers,
    body,
    timeoutMs: 120_000,
  }).catch((error: Error) => ({ status: 0, text: error.message }))
  const ms = performance.now() - startedAtMs
  const { longestTurnMs } = await gateway.report()
  const usedMs = cpuMs(gateway.pid) - cpuBeforeMs
  const { waitsMs, failures } = await readNeighbour(scenario)
  const starvedMs = runDelayMs(gateway.pid) - delayBeforeMs
  scenario.waitsMs.push(...waitsMs.map((waitMs) => Math.max(0, waitMs - starvedMs)))
  const slowestMs = Math.max(0, ...waitsMs)
  const grownBytes = peakBytes(gateway.pid) - before
  sent++
  const perByte = Math.max(0, grownBytes - SPARE_BYTES) / body.length
  const faults = [
    ...(longestTurnMs > LONGEST_WAIT_MS ? [`the loop was held for ${longestTurnMs.toFixed()} ms of CPU`] : []),
    ...(slowestMs - starvedMs > LONGEST_WAIT_MS ? [`others waited ${slowestMs.toFixed()} ms`] : []),
    ...(perByte > MOST_BYTES_PER_BYTE ? [`${perByte.toFixed(1)} bytes a byte`] : []),
    ...(reply.status === 0 || reply.status === 500 ? [`${reply.status} ${reply.text.slice(0, 100)}`] : []),
    ...failures.slice(0, 2),
  ]
  const marks = [
    headers['x-svc-pipe'] && 'full pipeline',
    headers['transfer-encoding'],
    size && `${(size / MB).toFixed(1)} MB`,
    headers.authorization === undefined && 'no credential',
  ].filter(Boolean)
  const target = `${method === 'POST' ? '' : `${method} `}${path}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`
  return {
    target,
    status: reply.status,
    ms,
    cpuMs: usedMs,
    turnMs: longestTurnMs,
    waitMs: slowestMs,
    grownBytes,
    faults,
  }
}

function print(mode: string, shape: string, figures: readonly Figures[]): void {
  const most = (key: 'ms' | 'cpuMs' | 'turnMs' | 'waitMs' | 'grownBytes') =>
    Math.max(...figures.map((each) => each[key]))
  const faulty = figures.filter(({ faults }) => faults.length > 0)
  broken += faulty.length
  const parts = [
    `${figures.length} routes`,
    `at most ${most('ms').toFixed()} ms`,
    `${most('cpuMs')} ms of CPU`,
    `loop held ${most('turnMs').toFixed()} ms`,
    `others waited ${most('waitMs').toFixed()} ms`,
    `${toMb(most('grownBytes'))} more`,
  ]
  console.log(`${faulty.length === 0 ? '✓' : '✗'} ${mode}: ${shape}: ${parts.join(', ')}`)
  for (const { target, faults } of faulty) console.log(`    ${target}: ${faults.join('; ')}`)
  if (!values.all) return
  for (const each of figures)
    console.log(
      `    ${each.target}: ${each.status}, ${each.ms.toFixed()} ms, ${each.cpuMs} ms of CPU, loop ${each.turnMs.toFixed()} ms, ${toMb(each.grownBytes)}`,
    )
}

async function judge(scenario: Scenario, pass: number, { leftBytes, faults }: LeftMemory): Promise<void> {
  const { mode, gateway } = scenario
  const sorted = scenario.waitsMs.toSorted((a, b) => a - b)
  const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0
  const { memory } = await gateway.report()
  const isHealthy = (await send(gateway.url, { method: 'GET', path: '/health' })).status === 200
  const isSound = isHealthy && p99Ms <= LONGEST_WAIT_MS && faults.length === 0
  if (!isSound) broken++
  const { heapUsed, heapTotal, arrayBuffers, external } = memory
  const parts = [
    isHealthy ? 'alive' : 'DEAD',
    `others: ${sorted.length} requests, p99 ${p99Ms.toFixed()} ms`,
    `memory: ${toMb(leftBytes)} above the start (heap ${toMb(heapUsed)} of ${toMb(heapTotal)}, buffers ${toMb(arrayBuffers)}, external ${toMb(external)})`,
    ...faults,
  ]
  console.log(`${isSound ? '✓' : '✗'} ${mode}, pass ${pass}: ${parts.join('; ')}`)
}

/** Resolves when other requests are answered: while a body was made, the provider in this process answered none. */
async function neighbourAnswered(scenario: Scenario): Promise<void> {
  while ((await readNeighbour(scenario)).waitsMs.length === 0) await sleep(NEIGHBOUR_POLL_MS)
}

function readNeighbour({ neighbour }: Scenario): Promise<NeighbourReport> {
  const answer = new Promise<NeighbourReport>((resolve) => neighbour.once('message', resolve))
  neighbour.postMessage('report')
  return answer
}
