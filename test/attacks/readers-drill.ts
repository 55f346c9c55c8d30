/**
 * `npm run drill:readers`: a thousand clients that request endless replies and never read, of one key and of ten, on a pool
 * of the default size and on one of fifty; and one client that reads, which must be answered all the time.
 * `-- --clients 1000 --seconds 40` are the defaults.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ask, send } from '../support/http-client.ts'
import { startProbed } from '../support/probed.ts'
import { residentBytes } from '../support/process-facts.ts'
import { startDrillProvider } from './drill-provider.ts'

const MB = 1024 * 1024
/** The reply that gives way must have waited for three seconds, and a busy machine takes its time. */
const LONGEST_WAIT_MS = 6000
const LONGEST_MEDIAN_MS = 1000
/** Buffered bytes of an open reply, including the network's buffers. */
const MOST_BYTES_A_REPLY = 4 * MB
/** Memory for a thousand waiting requests, for code and for a collector that has time. */
const SPARE_BYTES = 64 * MB
/** Longest time in which the buffers of all clients fill. */
const LONGEST_FILLING_MS = 60_000
const { values } = parseArgs({
  options: { clients: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '40' } },
})
const provider = await startDrillProvider()
let broken = 0
for (const [keys, connections] of [
  [1, 1024],
  [10, 1024],
  [1, 50],
  [10, 50],
] as const)
  await drill(keys, connections)
provider.close()
console.log(broken === 0 ? 'all held' : `FAILED: ${broken}`)
process.exit(broken > 0 ? 1 : 0)

async function drill(keys: number, connections: number): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-readers-'))
  const file = path.join(folder, 'turnpike.yaml')
  await writeFile(file, JSON.stringify({ providers: { connections } })) // JSON is YAML
  await using gateway = await startProbed({
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-ant-operator',
    SVC_PIPELINE: 'none',
    SVC_CONFIG: file,
  })
  for (let i = 0; i < 20; i++) await send(gateway.url, { body: ask('warm up') })
  const startBytes = residentBytes(gateway.pid)
  const clients: Socket[] = []
  for (let i = 0; i < Number(values.clients); i++) clients.push(neverRead(gateway.port, `never-reads-${i % keys}`))
  const filledMs = await fill(gateway.url)
  await gateway.report() // what follows is measured
  const waitsMs: number[] = []
  const failures: string[] = []
  let mostBytes = 0
  for (const endsAtMs = performance.now() + Number(values.seconds) * 1000; performance.now() < endsAtMs; ) {
    const startedAtMs = performance.now()
    const reply = await send(gateway.url, { body: ask('are you there?'), timeoutMs: 60_000 }).catch(String)
    waitsMs.push(performance.now() - startedAtMs)
    if (typeof reply === 'string' || reply.status !== 200)
      failures.push(typeof reply === 'string' ? reply : `${reply.status} ${reply.text.slice(0, 100)}`)
    mostBytes = Math.max(mostBytes, residentBytes(gateway.pid))
    await sleep(100)
  }
  for (const client of clients) client.destroy()
  const sorted = waitsMs.toSorted((a, b) => a - b)
  const medianMs = sorted[sorted.length >> 1] ?? 0
  const slowestMs = sorted.at(-1) ?? 0
  const { longestTurnMs } = await gateway.report()
  const perReply = (mostBytes - startBytes - SPARE_BYTES) / Math.min(clients.length, connections)
  const isSound =
    failures.length === 0 &&
    medianMs < LONGEST_MEDIAN_MS &&
    slowestMs < LONGEST_WAIT_MS &&
    longestTurnMs < LONGEST_MEDIAN_MS &&
    perReply < MOST_BYTES_A_REPLY &&
    filledMs < LONGEST_FILLING_MS
  if (!isSound) broken++
  console.log(
    `${isSound ? '✓' : '✗'} ${clients.length} clients of ${keys} keys, ${connections} connections: buffers full after ${(filledMs / 1000).toFixed()} s; then one that reads had ${sorted.length} replies, median ${medianMs.toFixed()} ms, slowest ${slowestMs.toFixed()} ms; loop held ${longestTurnMs.toFixed()} ms of CPU; ${((mostBytes - startBytes) / MB).toFixed()} MB more ${failures.slice(0, 2).join('; ')}`,
  )
  await rm(folder, { recursive: true })
}

/** Waits until the replies have filled what takes them, and cost no more CPU; for how long, in milliseconds. */
async function fill(url: string): Promise<number> {
  const startedAtMs = performance.now()
  for (let calm = 0; calm < 3; ) {
    const sentAtMs = performance.now()
    const reply = await send(url, { body: ask('are you there?'), timeoutMs: 120_000 }).catch(() => undefined)
    calm = reply?.status === 200 && performance.now() - sentAtMs < 500 ? calm + 1 : 0
    await sleep(100)
  }
  return performance.now() - startedAtMs
}

/** Requests an endless reply and reads nothing of it. */
function neverRead(port: number, key: string): Socket {
  const socket = connect(port, '127.0.0.1')
  const body = JSON.stringify(ask('tell me all', { stream: true }))
  const head = ['POST /v1/messages HTTP/1.1', 'host: a', `x-api-key: ${key}`, 'content-type: application/json']
  socket.on('error', () => {}).pause()
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  return socket
}
