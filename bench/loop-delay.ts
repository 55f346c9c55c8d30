// `node bench/loop-delay.ts [requests a second] [seconds]`: delay of the gateway's event loop under a steady load.
//
// Every request is guarded by two caps, has a receipt and is recorded. Default: 1,000 a second for 10 seconds, after 5
// to warm up. The load comes from this process; on a busy machine the figures are the machine's.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { type Gateway, startGateway, startUpstream } from './gateway-process.ts'
import { targets } from './targets.ts'

const WARM_UP_S = 5
const CONNECTIONS = 128
const MOST_OPEN = 2000
const PROBE = fileURLToPath(new URL('loop-delay-probe.ts', import.meta.url))
const TEXT = 'word '.repeat(200)

/** Sends at a fixed rate; resolves with the latencies in milliseconds when all are answered. */
async function load({ origin, headers }: Gateway, perSecond: number, seconds: number): Promise<number[]> {
  const dispatcher = new Agent({ connections: CONNECTIONS })
  const latencies: number[] = []
  const open = new Set<Promise<void>>()
  const send = async (nth: number): Promise<void> => {
    const askedAtMs = performance.now()
    const messages = [{ role: 'user', content: `${nth} ${TEXT}` }]
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 256, messages })
    const reply = await request(`${origin}/v1/messages`, { dispatcher, method: 'POST', headers, body })
    await reply.body.dump()
    if (reply.statusCode !== 200) throw new Error(`Expected 200, got ${reply.statusCode}.`)
    latencies.push(performance.now() - askedAtMs)
  }
  const startedAtMs = performance.now()
  for (let nth = 1; nth <= perSecond * seconds; nth++) {
    const early = startedAtMs + (nth / perSecond) * 1000 - performance.now()
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early))
    if (open.size >= MOST_OPEN) await Promise.race(open)
    const sending = send(nth)
    open.add(sending)
    void sending.finally(() => open.delete(sending)).catch(() => {})
  }
  await Promise.all(open)
  await dispatcher.close()
  return latencies.sort((a, b) => a - b)
}

const [perSecond = 1000, seconds = 10] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
const file = path.join(folder, 'delay.json')
const target = targets.find(({ name }) => name === 'caps')
if (target?.args === undefined) throw new Error('There is no target `caps`.')
try {
  const upstream = await startUpstream(folder)
  const gateway = await startGateway(
    {
      ...target,
      args: ['--import', PROBE, ...target.args],
      environment: (place) => ({ ...target.environment?.(place), LOOP_DELAY_FILE: file }),
    },
    { upstreamOrigin: upstream.origin, folder },
  )
  await load(gateway, perSecond, WARM_UP_S)
  for (const pid of gateway.pids().slice(0, 1)) process.kill(pid, 'SIGUSR2')
  const latencies = await load(gateway, perSecond, seconds)
  await gateway.stop()
  await upstream.stop()
  const { p50, p99, largest } = JSON.parse(readFileSync(file, 'utf8')) as Record<'p50' | 'p99' | 'largest', number>
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1)
  console.log(`${latencies.length} requests with caps, ${perSecond} a second`)
  console.log(`event loop late by, ms: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, at most ${largest.toFixed(1)}`)
  console.log(`answered within, ms: p50 ${at(0.5)}, p99 ${at(0.99)}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
