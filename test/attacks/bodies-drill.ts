/**
 * `npm run drill:bodies`: hostile bodies of 30 MB, one after another, on every route that reads one, with and without a
 * credential. The process must live, others must be answered within a second, and memory must grow by at most eight
 * bytes a byte and come back. `-- --mb 4 --only 'content: zeros'` makes it smaller.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { cpuMs, residentBytes } from '../support/process-facts.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'

const MB = 1024 * 1024
const LONGEST_WAIT_MS = 1000
const MOST_BYTES_PER_BYTE = 8
/** What code and a collector that has time take, however small the body is. */
const SPARE_BYTES = 64 * MB
const MOST_LEFT_BYTES = 100 * MB
const FULL = 'exact-cache,semantic-cache,prune-tools,preserve,compress,patterns,cost-guard'
const OWN = { authorization: 'Bearer attacker' }
const TARGETS: readonly { path: string; headers: Record<string, string | undefined> }[] = [
  { path: '/v1/messages', headers: OWN },
  { path: '/v1/messages', headers: { ...OWN, 'x-svc-pipe': FULL } },
  { path: '/v1/chat/completions', headers: OWN },
  { path: '/v1/chat/completions', headers: { ...OWN, 'x-svc-pipe': FULL } },
  { path: '/v1/messages/count_tokens', headers: OWN },
  ...[
    '/v1/messages',
    '/v1/agent/messages',
    '/v1/agent/quote',
    '/v1/agent/sessions',
    '/v1/keys',
    '/v1/billing/webhook',
    '/v1/billing/checkout',
    '/v1/receipts',
    '/v1/semantic-cache/feedback',
  ].map((path) => ({ path, headers: { authorization: undefined } })),
]

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '30' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
})
const bytes = Number(values.mb) * MB
const upstream = await startUpstream()
await using gateway = await startGateway({
  ANTHROPIC_BASE_URL: upstream.url,
  ANTHROPIC_API_KEY: 'sk-ant-operator',
  SVC_MPP: 'on',
  SVC_MPP_SECRET: 'the-secret-of-challenges-of-the-drill-and-nothing-else',
  SVC_MPP_REALM: 'gw.test',
  SVC_MPP_NETWORK_ID: 'profile_test_1',
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_API_BASE: upstream.url,
})
const neighbour = new Worker(new URL('./neighbour.ts', import.meta.url), { workerData: { url: gateway.url } })
await sleep(2000)
const startBytes = residentBytes(gateway.pid)
const allWaitsMs: number[] = []
let broken = 0

for (const [shape, make] of Object.entries(HOSTILE_BODIES)) {
  if (values.only !== undefined && shape !== values.only) continue
  const body = Buffer.from(make(bytes))
  for (const { path, headers } of TARGETS) await attack({ shape, path, headers, body })
}
await report()
await neighbour.terminate()
await gateway.stop()
upstream.close()
process.exit(broken > 0 ? 1 : 0)

interface Attack {
  readonly shape: string
  readonly path: string
  readonly headers: Record<string, string | undefined>
  readonly body: Buffer
}

async function attack({ shape, path, headers, body }: Attack): Promise<void> {
  // What waited while the body was made is not counted.
  await sleep(100)
  await readNeighbour()
  const cpuBeforeMs = cpuMs(gateway.pid)
  const before = residentBytes(gateway.pid)
  writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5') // the peak begins anew
  const startedAtMs = performance.now()
  const reply = await send(gateway.url, { path, headers, body, timeoutMs: 300_000 }).catch((error: Error) => ({
    status: 0,
    text: error.message,
  }))
  const ms = performance.now() - startedAtMs
  const usedMs = cpuMs(gateway.pid) - cpuBeforeMs
  await sleep(60)
  const { waitsMs, failures } = await readNeighbour()
  allWaitsMs.push(...waitsMs)
  const slowestMs = Math.max(0, ...waitsMs)
  const grown = peakBytes() - before
  const perByte = Math.max(0, grown - SPARE_BYTES) / body.length
  const isBroken = slowestMs > LONGEST_WAIT_MS || perByte > MOST_BYTES_PER_BYTE || failures.length > 0
  if (isBroken) broken++
  const pipe = headers['x-svc-pipe'] === undefined ? '' : ' (full pipeline)'
  const figures = [
    `${reply.status}`,
    `${ms.toFixed()} ms`,
    `${usedMs} ms of CPU`,
    `others at most ${slowestMs.toFixed()} ms`,
    `${(grown / MB).toFixed()} MB more`,
  ]
  if (isBroken || values.only !== undefined || values.all)
    console.log(
      `${isBroken ? '✗' : '✓'} ${shape}; ${path}${pipe}: ${figures.join(', ')} ${failures.slice(0, 2).join('; ')}`,
    )
}

async function report(): Promise<void> {
  const sorted = allWaitsMs.toSorted((a, b) => a - b)
  const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0
  let leftBytes = Number.POSITIVE_INFINITY
  for (let i = 0; i < 60 && leftBytes > MOST_LEFT_BYTES; i++, await sleep(1000))
    leftBytes = residentBytes(gateway.pid) - startBytes
  console.log(`others: ${sorted.length} requests, p99 ${p99Ms.toFixed()} ms, slowest ${sorted.at(-1)?.toFixed()} ms`)
  console.log(
    `memory: ${(startBytes / MB).toFixed()} MB at the start, ${(leftBytes / MB).toFixed()} MB more at the end`,
  )
  console.log(`${broken} attacks broke a bound`)
  if (p99Ms > LONGEST_WAIT_MS || leftBytes > MOST_LEFT_BYTES) broken++
}

function readNeighbour(): Promise<{ waitsMs: number[]; failures: string[] }> {
  const answer = new Promise<{ waitsMs: number[]; failures: string[] }>((resolve) => neighbour.once('message', resolve))
  neighbour.postMessage('report')
  return answer
}

function peakBytes(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** A provider that answers whatever it is sent, and keeps none of it. */
async function startUpstream(): Promise<{ url: string; close(): void }> {
  const message = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
  }
  const reply = {
    id: 'msg_1',
    model: 'claude-sonnet-4-5',
    ...message,
    input_tokens: 1,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const server = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify(reply)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
