import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, createKey } from '../../support/accounts.ts'
import { assertMessageStream } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, type Reply, send } from '../../support/http-client.ts'
import { valueAt } from '../../support/json.ts'
import { holdEvent } from '../../support/provider/script.ts'
import { type Cluster, clusterTest, openCluster, SIZE } from '../cluster.ts'

/** Results of the load so far. */
interface Load {
  readonly replies: readonly { stream: boolean; reply: Reply }[]
  stop(): Promise<void>
}

const CALLERS = 12

/** Starts callers that each send one request after another, streams and JSON in turn. */
function startLoad({ url }: Cluster, key: string): Load {
  const replies: { stream: boolean; reply: Reply }[] = []
  let isOver = false
  const call = async (caller: number) => {
    for (let nth = 0; !isOver; nth++) {
      const stream = nth % 2 === 0
      const body = ask(`caller ${caller}, question ${nth}`, { ...(stream && { stream }) })
      replies.push({ stream, reply: await send(url, { body, headers: bearer(key) }) })
      await sleep(5)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, caller) => call(caller))
  const stop = async () => {
    isOver = true
    await Promise.all(callers)
  }
  return { replies, stop }
}

clusterTest('rolling restart: no request fails, no stream is cut, and every receipt is there', async (t) => {
  t.timeout(600_000)
  const cluster = await openCluster({
    env: { SVC_PIPELINE: 'cost-guard?per_day=100', SVC_RATE_LIMIT: '0' },
    config: { server: { drain_delay: '1s' } },
  })
  const { key } = await createKey(cluster, 'roller')
  const gates = new Map<string, PromiseWithResolvers<void>>()
  cluster.provider.reply(({ raw }) => {
    const [text] = /a long stream \d+/.exec(raw.toString()) ?? []
    const gate = text === undefined ? undefined : gates.get(text)
    return { kind: 'answer', usage: USAGE, ...(gate && { writes: holdEvent(3, gate.promise) }) }
  })
  const load = startLoad(cluster, key)
  const long: Reply[] = []
  for (let index = 0; index < SIZE; index++) {
    const text = `a long stream ${index}`
    const gate = Promise.withResolvers<void>()
    gates.set(text, gate)
    const begun = Promise.withResolvers<void>()
    const running = send(cluster.gateways[index]?.url ?? '', {
      body: ask(text, { stream: true }),
      headers: bearer(key),
      onChunk: () => begun.resolve(),
      timeoutMs: 120_000,
    })
    await begun.promise
    await cluster.replace(index, async () => {
      const before = load.replies.length
      await eventually(() => load.replies.length > before + 10 * CALLERS, 'the load goes on meanwhile')
      gate.resolve()
    })
    long.push(await running)
  }
  await load.stop()
  t.deepEqual(cluster.balancer.failures, [])
  for (const { stream, reply } of [...load.replies, ...long.map((reply) => ({ stream: true, reply }))]) {
    t.is(reply.status, 200, reply.text)
    t.true(reply.endedCleanly)
    if (stream) t.notThrows(() => assertMessageStream(reply.body))
  }
  t.true(cluster.balancer.sent.size === 2 * SIZE, 'old ones and new ones have served')
  t.log(`${load.replies.length} requests during ${SIZE} replacements`)

  const ids = [...long, ...load.replies.map(({ reply }) => reply)].map((reply) =>
    String(reply.headers['x-svc-receipt']),
  )
  t.is(new Set(ids).size, ids.length)
  let costNanoUsd = 0
  for (const receiptId of ids) {
    const found = await send(cluster.url, { method: 'GET', path: `/v1/receipts/${receiptId}`, headers: bearer(key) })
    t.like(found, { status: 200, json: { outcome: 'complete' } })
    costNanoUsd += Math.round(Number(valueAt(found.json, 'cost.provider_usd')) * 1e9)
  }
  t.true(costNanoUsd > ids.length * 1_000_000)
  const sums = async () => {
    const [row] = await cluster.sql(
      `select sum(settled_nano_usd)::float8 settled, sum(held_nano_usd)::float8 held from spend_window`,
    )
    return row
  }
  // Reservation pools give back what they hold within a moment.
  await eventually(async () => (await sums())?.held === 0, 'nothing is held')
  t.deepEqual(await sums(), { settled: costNanoUsd, held: 0 })
})

const USAGE = { input_tokens: 1000, output_tokens: 100 }
