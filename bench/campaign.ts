import { forms } from './bodies.ts'
import { CALM_CORES, startOthersClock } from './calm.ts'
import type { Case } from './cases.ts'
import type { Gateway } from './gateway-process.ts'
import type { Result, Traffic } from './load.ts'
import type { LoadProcess } from './load-process.ts'
import type { Effort } from './options.ts'
import { probe, upstreamCount } from './probe.ts'
import { percentile } from './statistics.ts'

/** Measurement of one gateway in one case of one round. */
export interface Measurement extends Partial<Cpu>, Partial<Latency> {
  round: number
  targetName: string
  caseName: string
}

/** Figures at saturation, which the direct line has not. */
interface Cpu {
  /** Per request, of all threads. */
  cpuMicroseconds: number
  loopMicroseconds: number
  requestsPerSecond: number
}

/** Figures at the modest rate. */
interface Latency {
  p50Ms: number
  p99Ms: number
  firstByteMs: number
}

export interface CampaignOptions {
  gateways: readonly Gateway[]
  cases: readonly Case[]
  effort: Effort
  /** Number of its first round: rounds of several campaigns have numbers of their own. */
  firstRound: number
  load: LoadProcess
  upstreamOrigin: string
  signal: AbortSignal
  /** Adds a sentence under the tables: failures and deviations. */
  note(text: string): void
}

const LARGEST_FAILURE_SHARE = 0.001
/** Requests that wake a gateway come in slices of this length, until one is no cheaper than the one before. */
const AWAKE_SLICE_SECONDS = 1
const LONGEST_AWAKE_SECONDS = 20
/** Measurements of one figure until other programs rest. */
const MOST_TRIES = 3
const WARM_UP_SLICES = 5
/** A figure no longer changes when a slice of the warm-up differs by less from the one before. */
const STILL_SHARE = 0.03
/** Longest warm-up, in least ones. */
const LONGEST_WARM_UP = 3

/** Gateway in one case, with the route that the probe verified. */
interface Lane {
  gateway: Gateway
  traffic: Traffic
}

/** Probes all gateways; then, case by case, warms them and measures them in rounds of rotating order. */
export async function runCampaign(options: CampaignOptions): Promise<Measurement[]> {
  const { effort, cases, firstRound } = options
  const lanes = await probeLanes(options)
  const measurements: Measurement[] = []
  for (const one of cases) {
    const group = lanes.filter(({ traffic }) => traffic.case === one)
    for (const lane of group) await warm(lane, options)
    for (let round = 0; round < effort.rounds; round++) {
      console.log(`${one.label}, round ${round + 1} of ${effort.rounds}`)
      for (const lane of rotate(group, round)) measurements.push(await measure(lane, options, firstRound + round))
    }
  }
  return measurements
}

/** Sends requests until the CPU of a request no longer changes: V8 compiles what it finds hot, and late. */
async function warm(lane: Lane, options: CampaignOptions): Promise<void> {
  const { effort, note } = options
  const { target } = lane.gateway
  if (target.name === 'direct') return
  const slice = Math.ceil(effort.warmUpRequests / WARM_UP_SLICES)
  let [last, isStill] = [Number.POSITIVE_INFINITY, false]
  for (let sent = 0; sent < effort.warmUpRequests || !isStill; sent += slice) {
    if (sent >= effort.warmUpRequests * LONGEST_WARM_UP)
      return note(`${target.label}: ${lane.traffic.case.label}: its CPU still changed after ${sent} requests.`)
    const { cpuMicroseconds = Number.NaN } = await saturate(lane, options, { requestCount: slice })
    if (Number.isNaN(cpuMicroseconds)) return
    isStill = Math.abs(cpuMicroseconds / last - 1) < STILL_SHARE
    last = cpuMicroseconds
  }
}

async function probeLanes({ gateways, cases, note }: CampaignOptions): Promise<Lane[]> {
  const lanes: Lane[] = []
  for (const trafficCase of cases) {
    for (const gateway of gateways) {
      const { target, origin, headers } = gateway
      try {
        const { path, replyBytes } = await probe(gateway, trafficCase)
        const usual = forms[target.wording.dialect].path
        if (path !== usual) note(`${target.label}: ${trafficCase.label} runs on ${path}, ${usual} failed.`)
        // Nine tenths, because a gateway may rewrite an id or a number in its replies.
        const { wording, unique } = target
        const traffic = { origin, path, headers, wording, case: trafficCase, unique }
        lanes.push({ gateway, traffic: { ...traffic, leastReplyBytes: replyBytes * 0.9 } })
      } catch (error) {
        note(`${target.label}: ${trafficCase.label} not measured. ${String(error)}`)
      }
    }
  }
  return lanes
}

async function measure(lane: Lane, options: CampaignOptions, round: number): Promise<Measurement> {
  const { gateway, traffic } = lane
  const { effort } = options
  const names = { round, targetName: gateway.target.name, caseName: traffic.case.name }
  const busy = names.targetName === 'direct' ? {} : await saturateAwake(lane, options)
  const paced = effort.pacedRequests === 0 ? {} : await pace(lane, options)
  const measurement: Measurement = { ...names, ...busy, ...paced }
  console.log(describe(measurement))
  return measurement
}

async function pace(lane: Lane, options: CampaignOptions): Promise<Latency> {
  const { load, effort } = options
  const result = await load.run({ kind: 'pace', traffic: lane.traffic, requestCount: effort.pacedRequests })
  noteFailures(lane, result, options)
  const { totalMs = [], firstByteMs = [] } = result
  return {
    p50Ms: percentile(totalMs, 0.5),
    p99Ms: percentile(totalMs, 0.99),
    firstByteMs: percentile(firstByteMs, 0.5),
  }
}

/**
 * Measures after requests that do not count: since its last turn a gateway has rested, and let go of compiled code and of
 * memory. After 90 seconds of rest the next thousands of requests cost up to twice as much.
 */
async function saturateAwake(lane: Lane, options: CampaignOptions): Promise<Partial<Cpu>> {
  const untilMs = performance.now() + 1000 * LONGEST_AWAKE_SECONDS
  const slice = { requestCount: 1, leastSeconds: AWAKE_SLICE_SECONDS }
  let [last, isFalling] = [Number.POSITIVE_INFINITY, true]
  while (isFalling && performance.now() < untilMs) {
    const { cpuMicroseconds = Number.NaN } = await saturate(lane, options, slice)
    isFalling = cpuMicroseconds < last * (1 - STILL_SHARE)
    last = cpuMicroseconds
  }
  return saturateCalmly(lane, options)
}

/** Measures again while other programs use the machine, and notes a figure that they have disturbed. */
async function saturateCalmly(lane: Lane, options: CampaignOptions): Promise<Partial<Cpu>> {
  const { requests, seconds } = options.effort
  for (let tries = 1; ; tries++) {
    const others = startOthersClock()
    const measured = await saturate(lane, options, { requestCount: requests, leastSeconds: seconds })
    const cores = others.cores()
    if (cores <= CALM_CORES) return measured
    if (tries === MOST_TRIES) {
      options.note('Other programs used the machine: some figures are disturbed.')
      return measured
    }
    console.log(`  other programs used ${cores.toFixed(2)} cores: again`)
  }
}

async function saturate(
  lane: Lane,
  options: CampaignOptions,
  length: { readonly requestCount: number; readonly leastSeconds?: number },
): Promise<Partial<Cpu>> {
  const { load, upstreamOrigin, note, signal } = options
  signal.throwIfAborted()
  const { target } = lane.gateway
  const before = await upstreamCount(upstreamOrigin)
  const result = await load.run({ kind: 'count', traffic: lane.traffic, pids: lane.gateway.pids(), ...length })
  const share = ((await upstreamCount(upstreamOrigin)) - before) / result.requests
  // The first requests of a hit, as many as there are connections, fill the cache.
  const isPlausible = target.reachesUpstream ? share > 0.999 : share < 0.01 + 64 / result.requests
  if (!isPlausible) note(`${target.label}: ${(share * 100).toFixed(1)} % of the requests reached the upstream.`)
  noteFailures(lane, result, options)
  const { failures, requests, cpuMicroseconds, loopMicroseconds, requestsPerSecond } = result
  if (cpuMicroseconds === undefined || loopMicroseconds === undefined || requestsPerSecond === undefined) return {}
  // Refusals are cheap: a gateway that fails must not look fast.
  if (failures > requests * LARGEST_FAILURE_SHARE) return {}
  return { cpuMicroseconds, loopMicroseconds, requestsPerSecond }
}

function noteFailures(
  { gateway, traffic }: Lane,
  { failures, requests, failure }: Result,
  options: CampaignOptions,
): void {
  if (failures === 0) return
  options.note(
    `${gateway.target.label}: ${traffic.case.label}: ${failures} of ${requests} failed, the first: ${failure}`,
  )
}

/** Rotates the lanes, so that no gateway always follows the same one. */
function rotate(lanes: readonly Lane[], round: number): Lane[] {
  const first = round % lanes.length
  return [...lanes.slice(first), ...lanes.slice(0, first)]
}

function describe({ caseName, targetName, cpuMicroseconds, requestsPerSecond, p50Ms }: Measurement): string {
  const busy = cpuMicroseconds
    ? `${cpuMicroseconds.toFixed(0).padStart(6)} µs CPU ${requestsPerSecond?.toFixed(0).padStart(6)} requests/s`
    : ''
  return `  ${caseName.padEnd(10)} ${targetName.padEnd(16)} ${busy.padEnd(34)} ${p50Ms === undefined ? '' : `${p50Ms.toFixed(2)} ms p50`}`
}
