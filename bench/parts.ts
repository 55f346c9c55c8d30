// `npm run bench:parts`: CPU that each part of the gateway adds to a request, by switching them on one after another.
//
// Each line is a process of its own with all parts of the lines above it. Rounds are interleaved, and the least of a
// line's rounds counts: interference only adds. Replies are misses, and each request differs from all others.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Case, cases } from './cases.ts'
import { type Gateway, startGateway, startUpstream } from './gateway-process.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { cpuMicroseconds, loopMicroseconds } from './process-accounting.ts'
import { type Place, type Target, targets } from './targets.ts'

/** A part of the gateway, and the settings that switch it on. */
interface Part {
  readonly name: string
  readonly label: string
  readonly settings: Readonly<Record<string, object | string>>
}

const PARTS: readonly Part[] = [
  {
    name: 'relay',
    label: 'relay only',
    settings: {
      log_level: 'silent',
      pipeline: { default: 'none' },
      receipts: { enabled: false },
      telemetry: { enabled: false },
      metrics: { enabled: false },
      dashboard: { access: 'off' },
    },
  },
  { name: 'log', label: '+ log line', settings: { log_level: 'info' } },
  { name: 'metrics', label: '+ metrics', settings: { metrics: { enabled: true } } },
  { name: 'receipts', label: '+ receipt', settings: { receipts: { enabled: true } } },
  { name: 'rows', label: '+ row of the request, live feed', settings: { telemetry: { enabled: true } } },
  { name: 'bodies', label: '+ bodies kept for the dashboard', settings: { dashboard: { access: 'loopback' } } },
  { name: 'cache', label: '+ exact-cache, all misses', settings: { pipeline: { default: 'exact-cache' } } },
  {
    name: 'pipeline',
    label: '+ cost-guard without caps (the defaults)',
    settings: { pipeline: { default: 'exact-cache,cost-guard' } },
  },
  { name: 'caps', label: '+ caps by day and month', settings: { costs: { per_day: 1_000_000, per_month: 1_000_000 } } },
]

const LANES = new Set(['json-1k', 'sse'])
/** Time for what is written after the replies. */
const AFTERMATH_MS = 300

interface Effort {
  readonly rounds: number
  readonly warmUp: number
  readonly requests: number
}

interface Rig {
  readonly load: LoadProcess
  readonly gateways: readonly Gateway[]
  readonly signal: AbortSignal
}

/** CPU microseconds per request: all threads, and the event loop alone. */
interface Cost {
  readonly all: number
  readonly loop: number
}

const [bare, ours] = ['bare', 'default'].map((name) => targets.find((target) => target.name === name))

/** Returns a target for each part, with the settings of all parts before it. */
function partTargets(template: Target): Target[] {
  return PARTS.map(({ name, label }, index) => {
    const settings = Object.assign({}, ...PARTS.slice(0, index + 1).map((part) => part.settings))
    const environment = (place: Place): Record<string, string> => {
      const file = join(place.dataDir, 'parts.yaml')
      writeFileSync(file, JSON.stringify(settings))
      const { LOG_LEVEL, ...rest } = template.environment?.(place) ?? {}
      return { ...rest, SVC_CONFIG: file }
    }
    return { ...template, name, label, environment }
  })
}

async function measure(load: LoadProcess, gateway: Gateway, one: Case, requestCount: number): Promise<Cost> {
  const { target, origin, headers } = gateway
  const pids = gateway.pids()
  const before = { all: cpuMicroseconds(pids), loop: loopMicroseconds(pids) }
  const traffic = { origin, path: '/v1/messages', headers, wording: target.wording, case: one, unique: true }
  const { failures, failure } = await load.run({
    kind: 'count',
    traffic: { ...traffic, leastReplyBytes: 500 },
    requestCount,
  })
  if (failures > 0) throw new Error(`${target.label}: ${failures} of ${requestCount} failed, the first: ${failure}`)
  await sleep(AFTERMATH_MS)
  return {
    all: (cpuMicroseconds(pids) - before.all) / requestCount,
    loop: (loopMicroseconds(pids) - before.loop) / requestCount,
  }
}

/** Measures all gateways in interleaved rounds. Returns the least cost of each. */
async function measureAll({ load, gateways, signal }: Rig, one: Case, effort: Effort): Promise<Cost[]> {
  for (const gateway of gateways) {
    signal.throwIfAborted()
    await measure(load, gateway, one, effort.warmUp)
  }
  const least = gateways.map((): Cost => ({ all: Number.POSITIVE_INFINITY, loop: Number.POSITIVE_INFINITY }))
  for (let round = 0; round < effort.rounds; round++) {
    for (const [index, gateway] of gateways.entries()) {
      signal.throwIfAborted()
      const cost = await measure(load, gateway, one, effort.requests)
      if (cost.all < (least[index]?.all ?? 0)) least[index] = cost
    }
  }
  return least
}

function print(one: Case, gateways: readonly Gateway[], costs: readonly Cost[]): void {
  console.log(
    `\n| ${one.label} | all threads | added | × bare | event loop | added |\n| --- | --- | --- | --- | --- | --- |`,
  )
  for (const [index, { all, loop }] of costs.entries()) {
    const before = costs[index - 1]
    const added = (now: number, then: number | undefined) => (then === undefined ? '–' : (now - then).toFixed(0))
    const factor = (all / (costs[0]?.all ?? 1)).toFixed(2)
    const label = gateways[index]?.target.label
    console.log(
      `| ${label} | ${all.toFixed(0)} µs | ${added(all, before?.all)} | ${factor} | ${loop.toFixed(0)} µs | ${added(loop, before?.loop)} |`,
    )
  }
}

async function run(effort: Effort, signal: AbortSignal): Promise<void> {
  if (bare === undefined || ours === undefined) throw new Error('Expected the targets `bare` and `default`.')
  await using owned = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-parts-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const upstream = await startUpstream(folder)
  owned.defer(() => upstream.stop())
  const load = startLoad()
  owned.defer(() => load.stop())
  const gateways: Gateway[] = []
  for (const target of [bare, ...partTargets(ours)]) {
    const gateway = await startGateway(target, upstream.origin, mkdtempSync(join(folder, `${target.name}-`)))
    owned.defer(() => gateway.stop())
    gateways.push(gateway)
  }
  for (const one of cases.filter(({ name }) => LANES.has(name)))
    print(one, gateways, await measureAll({ load, gateways, signal }, one, effort))
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    'warm-up': { type: 'string', default: '15000' },
    requests: { type: 'string', default: '2000' },
  },
})
const effort = {
  rounds: Number(values.rounds),
  warmUp: Number(values['warm-up']),
  requests: Number(values.requests),
}
const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Error('Stopped.')))
await run(effort, stopping.signal)
