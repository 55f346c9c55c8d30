// `npm run bench:costs`: measures the cost of a request for a gateway in cloud mode, PostgreSQL and Redis, and writes
// costs.json, from which docs/scaling.md plans. Takes about four minutes. CPU only: on a busy machine it is some tenths
// higher.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { type Case, cases } from '../cases.ts'
import { measureIdleStream } from '../idle-streams.ts'
import { residentBytes } from '../process-accounting.ts'
import { COSTS_FILE, type Costs, type PipelineCost } from './cost-model.ts'
import { openRig, type Rig } from './rig.ts'

const COMMAND = 'npm run bench:costs'
/**
 * Moderate rates: concurrent requests are batched, which reduces the cost by a third that no plan should count on.
 * Streams run at full concurrency.
 */
const RATES: Readonly<Record<string, number>> = { 'json-1k': 150, 'json-30k': 150, 'json-300k': 50 }
const REQUESTS: Readonly<Record<string, number>> = { 'json-1k': 1800, 'json-30k': 1800, 'json-300k': 600, sse: 2000 }
const WARM_UP = 1500
/** Caps that are never reached, so that the guard holds money and refuses nothing. */
const CAPS = { SVC_COST_PER_DAY: '1000000', SVC_COST_PER_MONTH: '1000000' }
/** Streaming as providers do: one event per packet, some milliseconds apart. */
const STREAMING = { EVENTS_PER_WRITE: '1', PIECE_MS: '20' }
/** Packets of the upstream's 56 events: the first three and the last three share one. */
const PACKETS = 52
const STREAMS_AT_ONCE = 64
const JSON_REPLY_BYTES = 1036
const IDLE_STREAMS = 500

interface Way {
  pipeline?: string
  unique: boolean
}

const WAYS = {
  none: { pipeline: 'none', unique: true },
  default: { unique: true },
  hit: { unique: false },
} as const satisfies Record<string, Way>

interface Measured {
  cost: PipelineCost['gateway'][number]
  postgres: PipelineCost['postgres']
  redis: PipelineCost['redis']
  receiptBytes: number
  telemetryBytes: number
  redisBytes: number
}

async function measure(rig: Rig, kind: Case, way: Way): Promise<Measured> {
  const requests = REQUESTS[kind.name]!
  await rig.drive({ case: kind, ...way, requests: Math.min(WARM_UP, requests) })
  const rate = RATES[kind.name]
  const { took } = await rig.drive({ case: kind, ...way, requests, ...(rate && { requestsPerSecond: rate }) })
  const each = (amount: number, digits = 1) => Number((amount / requests).toFixed(digits))
  const measured = {
    cost: { kilobytes: kind.bodyBytes / 1024, loop: each(took.loop), other: each(took.gateway - took.loop) },
    postgres: { microseconds: each(took.postgres), transactions: each(took.transactions, 3) },
    redis: { microseconds: each(took.redis), commands: each(took.commands, 3) },
    receiptBytes: each(took.receiptBytes),
    telemetryBytes: each(took.telemetryBytes),
    redisBytes: each(took.redisBytes),
  }
  console.log(kind.name, way, JSON.stringify(measured))
  return measured
}

async function measureSizes(rig: Rig, way: Way): Promise<{ cost: PipelineCost; all: Measured[] }> {
  const all: Measured[] = []
  for (const kind of cases.filter((each) => !each.stream)) all.push(await measure(rig, kind, way))
  const { postgres, redis } = all[1]! // 30 KB, the size nearest to agents' requests
  return { cost: { gateway: all.map(({ cost }) => cost), postgres, redis }, all }
}

async function measureEvent(jsonCost: PipelineCost): Promise<Costs['streamEvent']> {
  await using rig = await openRig({ workers: 1, upstream: STREAMING })
  const kind = { ...cases.find(({ stream }) => stream)!, connections: STREAMS_AT_ONCE }
  const { cost } = await measure(rig, kind, WAYS.default)
  const json = jsonCost.gateway[0]! // of the same size
  const eachOf = (name: 'loop' | 'other') => Number((Math.max(0, cost[name] - json[name]) / PACKETS).toFixed(2))
  return { loop: eachOf('loop'), other: eachOf('other') }
}

async function measureAll(): Promise<Costs> {
  await using rig = await openRig({ workers: 1 })
  const openStreamKilobytes = Math.round((await measureIdleStream(rig, IDLE_STREAMS)) / 1024)
  const none = await measureSizes(rig, WAYS.none)
  const usual = await measureSizes(rig, WAYS.default)
  const hit = await measureSizes(rig, WAYS.hit)
  const processMegabytes = Math.round(residentBytes(rig.pids()) / 1024 ** 2)
  await rig[Symbol.asyncDispose]()
  await using cappedStand = await openRig({ workers: 1, env: CAPS })
  const capped = await measureSizes(cappedStand, WAYS.default)
  await cappedStand[Symbol.asyncDispose]()
  const [small] = usual.all
  return {
    measured: {
      at: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} cores (${cpus()[0]!.model.trim()}), Node ${process.versions.node}, PostgreSQL without fsync, all on one machine`,
      command: COMMAND,
    },
    pipelines: { none: none.cost, default: usual.cost, capped: capped.cost, hit: hit.cost },
    streamEvent: await measureEvent(usual.cost),
    memory: { processMegabytes, openStreamKilobytes },
    stored: {
      receiptBytes: Math.round(small!.receiptBytes),
      telemetryBytes: Math.round(small!.telemetryBytes),
      replyOverheadBytes: Math.max(0, Math.round(small!.redisBytes - JSON_REPLY_BYTES)),
    },
  }
}

writeFileSync(COSTS_FILE, `${JSON.stringify(await measureAll(), undefined, 2)}\n`)
console.log(`Written to ${COSTS_FILE.pathname}.`)
