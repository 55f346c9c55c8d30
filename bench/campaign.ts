import { forms } from './bodies.ts'
import type { Case } from './cases.ts'
import type { Gateway } from './gateway-process.ts'
import type { Result, Traffic } from './load.ts'
import type { LoadProcess } from './load-process.ts'
import type { Effort } from './options.ts'
import { probe, upstreamCount } from './probe.ts'
import { percentile } from './statistics.ts'

/** Measurement of one gateway in one case of one round. */
export interface Measurement {
  round: number
  targetName: string
  caseName: string
  /** From saturation; absent for the direct line. */
  cpuMicroseconds?: number
  requestsPerSecond?: number
  /** From the modest rate. */
  p50Ms?: number
  p99Ms?: number
  firstByteMs?: number
}

export interface CampaignOptions {
  gateways: readonly Gateway[]
  cases: readonly Case[]
  effort: Effort
  load: LoadProcess
  upstreamOrigin: string
  signal: AbortSignal
  /** Adds a sentence under the tables: failures and deviations. */
  note(text: string): void
}

const LARGEST_FAILURE_SHARE = 0.001

/** Gateway in one case, with the route that the probe verified. */
interface Lane {
  gateway: Gateway
  traffic: Traffic
}

/** Probes and warms every gateway, then measures all of them in each round, in rotating order. */
export async function runCampaign(options: CampaignOptions): Promise<Measurement[]> {
  const { effort, signal } = options
  const lanes = await probeLanes(options)
  for (const lane of lanes) {
    signal.throwIfAborted()
    if (lane.gateway.target.name !== 'direct') await saturate(lane, options, { cpuSeconds: 0, rampMs: effort.warmUpMs })
  }
  const measurements: Measurement[] = []
  for (let round = 0; round < effort.rounds; round++) {
    console.log(`round ${round + 1} of ${effort.rounds}`)
    for (const lane of rotate(lanes, round)) {
      signal.throwIfAborted()
      measurements.push(await measure(lane, options, round))
    }
  }
  return measurements
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
  const { load, effort } = options
  const names = { round, targetName: gateway.target.name, caseName: traffic.case.name }
  const isDirect = names.targetName === 'direct'
  const busy = isDirect ? {} : await saturate(lane, options, { cpuSeconds: effort.cpuSeconds, rampMs: 300 })
  const calm = await load.run({ kind: 'pace', traffic, requestCount: effort.pacedRequests })
  noteFailures(lane, calm, options)
  const { totalMs = [], firstByteMs = [] } = calm
  const measurement: Measurement = {
    ...names,
    ...busy,
    p50Ms: percentile(totalMs, 0.5),
    p99Ms: percentile(totalMs, 0.99),
    firstByteMs: percentile(firstByteMs, 0.5),
  }
  console.log(describe(measurement))
  return measurement
}

async function saturate(
  lane: Lane,
  options: CampaignOptions,
  { cpuSeconds, rampMs }: { cpuSeconds: number; rampMs: number },
): Promise<Pick<Measurement, 'cpuMicroseconds' | 'requestsPerSecond'>> {
  const { load, upstreamOrigin, note } = options
  const { target } = lane.gateway
  const before = await upstreamCount(upstreamOrigin)
  const job = { kind: 'saturate', traffic: lane.traffic, pids: lane.gateway.pids(), cpuSeconds, rampMs } as const
  const result = await load.run(job)
  const share = ((await upstreamCount(upstreamOrigin)) - before) / result.requests
  const isPlausible = target.reachesUpstream ? share > 0.999 : share < 0.01
  const percent = `${(share * 100).toFixed(1)} %`
  // The warm-up of a hit fills the cache; the rule applies to measured rounds only.
  if (cpuSeconds > 0 && result.requests > 0 && !isPlausible)
    note(`${target.label}: ${percent} of the requests reached the upstream.`)
  noteFailures(lane, result, options)
  const { cpuMicrosecondsPerRequest, requestsPerSecond } = result
  if (cpuMicrosecondsPerRequest === undefined || requestsPerSecond === undefined) return {}
  // Refusals are cheap: a gateway that fails must not look fast.
  if (result.failures > result.requests * LARGEST_FAILURE_SHARE) return {}
  return { cpuMicroseconds: cpuMicrosecondsPerRequest, requestsPerSecond }
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

/** Rotates the lanes, so that no gateway always follows the same one. Cases stay together. */
function rotate(lanes: readonly Lane[], round: number): Lane[] {
  return [...Map.groupBy(lanes, ({ traffic }) => traffic.case).values()].flatMap((group) => {
    const first = round % group.length
    return [...group.slice(first), ...group.slice(0, first)]
  })
}

function describe({ caseName, targetName, cpuMicroseconds, requestsPerSecond, p50Ms }: Measurement): string {
  const busy = cpuMicroseconds
    ? `${cpuMicroseconds.toFixed(0).padStart(6)} µs CPU ${requestsPerSecond?.toFixed(0).padStart(6)} requests/s`
    : ''
  return `  ${caseName.padEnd(10)} ${targetName.padEnd(16)} ${busy.padEnd(34)} ${p50Ms?.toFixed(2)} ms p50`
}
