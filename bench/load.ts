// Load generator, a separate process: takes jobs over the parent's channel, one at a time, and replies with each
// result. It reads the gateway's CPU clock itself, together with its own count of finished requests.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createTemplate, stamp, type Wording } from './bodies.ts'
import type { Case } from './cases.ts'
import { cpuMicroseconds, loopMicroseconds } from './process-accounting.ts'
import { type Outcome, sendRequest } from './send-request.ts'

/** Destination and content of requests. */
export interface Traffic {
  origin: string
  path: string
  headers: Record<string, string>
  wording: Wording
  case: Case
  /** Set when every request differs from all others. */
  unique: boolean
  /** Shorter replies count as failures. */
  leastReplyBytes: number
}

export type Job =
  | { kind: 'pace'; traffic: Traffic; requestCount: number }
  | { kind: 'count'; traffic: Traffic; requestCount: number; leastSeconds?: number; pids: number[] }

/** Result of a job; `failures` counts replies that were not complete with status 200. */
export interface Result {
  requests: number
  failures: number
  /** Description of the first failure. */
  failure?: string
  totalMs?: number[]
  /** Paced load only. */
  firstByteMs?: number[]
  /** Counted load only, as are the two below: CPU per request of all threads, with what is done after the replies. */
  cpuMicroseconds?: number
  /** CPU per request of the event loops. */
  loopMicroseconds?: number
  requestsPerSecond?: number
}

/** Time for what a gateway does after its replies; it counts. */
const AFTERMATH_MS = 300
const FAILURE_PAUSE_MS = 10

let counter = 0

function createTally(leastReplyBytes: number) {
  const tally: Result = { requests: 0, failures: 0 }
  const record = (outcome: Outcome): boolean => {
    tally.requests++
    if (outcome.status === 200 && outcome.bytes >= leastReplyBytes) return true
    tally.failures++
    tally.failure ??= outcome.error ?? `status ${outcome.status}, ${outcome.bytes} bytes`
    return false
  }
  return { tally, record }
}

/** Sends at least so many requests for at least so long; each connection sends the next as soon as it has its reply. */
async function count({ traffic, requestCount, leastSeconds = 0, pids }: Job & { kind: 'count' }): Promise<Result> {
  const pool = createPool(traffic, traffic.case.connections)
  const template = createTemplate(traffic.case, traffic.wording)
  const { tally, record } = createTally(traffic.leastReplyBytes)
  const totalMs: number[] = []
  let left = requestCount
  const untilMs = performance.now() + 1000 * leastSeconds
  const lane = async () => {
    // Each lane owns its bytes and rewrites the number in place: a reply means that the request was sent.
    const body = Buffer.from(template.bytes)
    while (left-- > 0 || performance.now() < untilMs) {
      if (traffic.unique) stamp(body, template.counterOffset, ++counter)
      const outcome = await sendRequest(pool, traffic, body)
      if (record(outcome)) totalMs.push(outcome.totalMs)
      else await sleep(FAILURE_PAUSE_MS)
    }
  }
  try {
    const start = { cpu: readClocks(pids), atMs: performance.now() }
    await Promise.all(Array.from({ length: traffic.case.connections }, lane))
    const seconds = (performance.now() - start.atMs) / 1000
    await sleep(AFTERMATH_MS)
    const end = readClocks(pids)
    return {
      ...tally,
      totalMs,
      requestsPerSecond: tally.requests / seconds,
      cpuMicroseconds: (end.all - start.cpu.all) / tally.requests,
      loopMicroseconds: (end.loop - start.cpu.loop) / tally.requests,
    }
  } finally {
    await pool.destroy() // Also when the gateway has died and its clock cannot be read.
  }
}

/** Reads the CPU of all threads and of the event loops, in microseconds. */
function readClocks(pids: readonly number[]): { all: number; loop: number } {
  return { all: cpuMicroseconds(pids), loop: loopMicroseconds(pids) }
}

/** Sends at a fixed rate without waiting for replies, so that a slow reply delays no later request. */
async function pace({ traffic, requestCount }: Job & { kind: 'pace' }): Promise<Result> {
  const pool = createPool(traffic, 64)
  const template = createTemplate(traffic.case, traffic.wording)
  const { tally, record } = createTally(traffic.leastReplyBytes)
  const outcomes: Promise<Outcome>[] = []
  const startMs = performance.now()
  for (let i = 0; i < requestCount; i++) {
    const body = Buffer.from(template.bytes)
    if (traffic.unique) stamp(body, template.counterOffset, ++counter)
    outcomes.push(sendRequest(pool, traffic, body))
    await sleep(Math.max(0, startMs + ((i + 1) * 1000) / traffic.case.requestsPerSecond - performance.now()))
  }
  // The first tenth opens connections and warms the gateway up.
  const settled = (await Promise.all(outcomes)).slice(requestCount / 10).filter(record)
  await pool.close()
  return {
    ...tally,
    firstByteMs: settled.map((outcome) => outcome.firstByteMs),
    totalMs: settled.map((outcome) => outcome.totalMs),
  }
}

function run(job: Job): Promise<Result> {
  switch (job.kind) {
    case 'pace':
      return pace(job)
    case 'count':
      return count(job)
  }
}

function createPool(traffic: Traffic, connections: number): Pool {
  return new Pool(traffic.origin, { connections, headersTimeout: 20_000, bodyTimeout: 20_000 })
}

process.on('message', async (job: Job) => {
  try {
    process.send?.(await run(job))
  } catch (error) {
    process.send?.({ requests: 0, failures: 1, failure: String(error) } satisfies Result)
  }
})
process.on('disconnect', () => process.exit())
