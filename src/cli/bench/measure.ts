import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { CommandError } from '../exit-codes.ts'
import { type Outcome, sendRequest } from './send-request.ts'
import { percentile } from './statistics.ts'

/** What is sent, how often and how many at a time. */
export interface Load {
  readonly requests: number
  readonly concurrency: number
  /** Of a request’s body. */
  readonly bytes: number
  readonly isStream: boolean
  /** The same request each time, for caches to answer. */
  readonly isSame: boolean
}

/** What one run has shown. */
export interface Measured {
  readonly requests: number
  readonly requestsPerSecond: number
  /** Until the first byte of the reply, in milliseconds. */
  readonly firstByteMs: Percentiles
  /** Until the end of the reply, in milliseconds. */
  readonly totalMs: Percentiles
  /** Of the gateway’s process; not told for the direct line. */
  readonly cpuMicrosecondsPerRequest: number | null
}

/** Times that 50, 95 and 99 of 100 requests did not exceed. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

const HEADERS = {
  'content-type': 'application/json',
  authorization: 'Bearer bench',
  'x-api-key': 'bench',
  'anthropic-version': '2023-06-01',
}
const LEAST_WARM_UP = 20
const PATIENCE_MS = 30_000
const FILLER = 'A toll is paid once, and the road beyond is free. '

let counter = 0

/** Sends the load to one address, after a tenth of it that is not counted. Throws `CommandError` when a reply is no success. */
export async function measure(url: string, load: Load, cpuSeconds?: () => Promise<number>): Promise<Measured> {
  const pool = new Pool(url, { connections: load.concurrency, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })
  try {
    await run(pool, { ...load, requests: Math.max(LEAST_WARM_UP, Math.ceil(load.requests / 10)) })
    const cpuBefore = await cpuSeconds?.()
    const startedAtMs = performance.now()
    const outcomes = await run(pool, load)
    const seconds = (performance.now() - startedAtMs) / 1000
    const cpuAfter = await cpuSeconds?.()
    const cpu = cpuBefore === undefined || cpuAfter === undefined ? null : cpuAfter - cpuBefore
    return {
      requests: outcomes.length,
      requestsPerSecond: outcomes.length / seconds,
      firstByteMs: percentiles(outcomes.map(({ firstByteMs }) => firstByteMs)),
      totalMs: percentiles(outcomes.map(({ totalMs }) => totalMs)),
      cpuMicrosecondsPerRequest: cpu === null ? null : (cpu * 1e6) / outcomes.length,
    }
  } finally {
    await pool.destroy()
  }
}

/** CPU seconds of a gateway since its start, as it tells them itself. */
export async function cpuSecondsOf(gatewayUrl: string): Promise<number> {
  const text = await (await fetch(`${gatewayUrl}/metrics`)).text()
  return Number(/^process_cpu_seconds_total ([\d.e+-]+)$/m.exec(text)?.[1])
}

/** Each of so many lanes sends one request after another. */
async function run(pool: Pool, load: Load): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let left = load.requests
  const lane = async () => {
    while (left-- > 0) {
      const outcome = await sendRequest(pool, { path: '/v1/messages', headers: HEADERS }, bodyOf(load))
      assertAnswered(outcome, load)
      outcomes.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: load.concurrency }, lane))
  return outcomes
}

function assertAnswered({ status, error }: Outcome, { concurrency }: Load): void {
  if (status === 200) return
  const why = error ?? `status ${status}`
  throw new CommandError(1, `A request failed (${why}), with ${concurrency} at a time: nothing was measured.`)
}

function bodyOf({ bytes, isStream, isSame }: Load): Buffer {
  const number = isSame ? 0 : ++counter
  const content = `Question ${String(number).padStart(9, '0')}. `
  const shape = (text: string) =>
    JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 1024,
      ...(isStream && { stream: true }),
      messages: [{ role: 'user', content: text }],
    })
  const missing = Math.max(0, bytes - shape(content).length)
  return Buffer.from(shape(content + FILLER.repeat(Math.ceil(missing / FILLER.length)).slice(0, missing)))
}

function percentiles(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95), p99: percentile(values, 0.99) }
}
