// `node bench/dashboard.ts`: cost of the dashboard per request, in CPU of the whole gateway process.
//
//   8 lanes ──► gateway: off                             ──► a server that answers at once
//          └──► gateway: bodies kept                     ──►
//          └──► gateway: bodies kept, a page watches     ──►   (one live feed is read, the overview is asked each second)
//
// The gateways take turns, round by round, so that other work of the machine affects all of them; shown are medians, and
// in brackets the median of how much more a round took than that of `off` beside it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'undici'
import { type GatewayProcess, startGatewayProcess } from '../test/support/gateway-process.ts'
import { cpuMicroseconds } from './process-accounting.ts'

const ROUNDS = 12
const REQUESTS_A_ROUND = 1200
const LANES = 8
const BODY_KILOBYTES = [1, 30, 300]
const OVERVIEW_EVERY_MS = 1000
const ANSWER = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'An answer of a usual length. '.repeat(40) }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 300 },
})

const modes = [
  { name: 'off', dashboard: { access: 'off' }, isWatched: false },
  { name: 'bodies kept', dashboard: {}, isWatched: false },
  { name: 'bodies kept, a page watches', dashboard: {}, isWatched: true },
] as const

await using owned = new AsyncDisposableStack()
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
owned.defer(() => rmSync(folder, { recursive: true, force: true }))
const upstream = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER))
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
owned.defer(() => void upstream.close())
// Safe: it listens on a port.
const { port } = upstream.address() as AddressInfo

async function open({ name, dashboard, isWatched }: (typeof modes)[number]) {
  const config = path.join(folder, `${name}.yaml`)
  writeFileSync(config, JSON.stringify({ dashboard, plugins: { watch: false } }))
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'x', SVC_CONFIG: config }
  const gateway = owned.use(await startGatewayProcess({ ...env, SVC_PIPELINE: 'none', LOG_LEVEL: 'warn' }))
  if (isWatched) watch(gateway)
  const pool = new Pool(gateway.url, { connections: LANES })
  owned.defer(() => pool.destroy())
  return { name, gateway, pool }
}

/** Imitates an open page. */
function watch({ url }: GatewayProcess): void {
  const leaving = new AbortController()
  owned.defer(() => leaving.abort())
  const { signal } = leaving
  const read = async () => {
    const { body } = await fetch(`${url}/dashboard/api/live`, { signal })
    for await (const _ of body ?? []);
  }
  read().catch(() => {})
  const timer = setInterval(() => {
    fetch(`${url}/dashboard/api/overview`, { signal }).then(
      (reply) => reply.arrayBuffer(),
      () => {},
    )
  }, OVERVIEW_EVERY_MS)
  owned.defer(() => clearInterval(timer))
}

const gateways = await Promise.all(modes.map(open))

/** Measures the CPU of one request in microseconds. */
async function round({ gateway, pool }: (typeof gateways)[number], body: string): Promise<number> {
  const before = cpuMicroseconds([gateway.pid])
  let left = REQUESTS_A_ROUND
  const lane = async () => {
    while (left-- > 0) {
      const headers = { authorization: 'Bearer bench', 'content-type': 'application/json' }
      const reply = await pool.request({ method: 'POST', path: '/v1/messages', headers, body })
      if (reply.statusCode !== 200) throw new Error(`Expected 200, got ${reply.statusCode}.`)
      await reply.body.dump()
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return (cpuMicroseconds([gateway.pid]) - before) / REQUESTS_A_ROUND
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

console.log(`| body | ${modes.map(({ name }) => name).join(' | ')} |\n| --- |${' ---: |'.repeat(modes.length)}`)
for (const kilobytes of BODY_KILOBYTES) {
  const message = { role: 'user', content: 'several plain words '.repeat(kilobytes * 51) }
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: [message] })
  for (const gateway of gateways) await round(gateway, body)
  const costs = gateways.map((): number[] => [])
  for (let i = 0; i < ROUNDS; i++)
    for (const [index, gateway] of gateways.entries()) costs[index]?.push(await round(gateway, body))
  const cells = costs.map((own) => {
    const grown = median(own.map((us, i) => us / (costs[0]?.[i] ?? Number.NaN) - 1))
    return `${median(own).toFixed(0)} µs (${(100 * grown).toFixed(0)} %)`
  })
  console.log(`| ${kilobytes} KB | ${cells.join(' | ')} |`)
}
