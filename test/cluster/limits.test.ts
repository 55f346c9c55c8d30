import { bearer, createKey } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { type Cluster, drillTest, openCluster } from './cluster.ts'

let opened: Promise<Cluster> | undefined
const open = () => {
  opened ??= openCluster({ env: { SVC_RATE_LIMIT: '0' } })
  return opened
}

const MINUTE_MS = 60_000
const NANO = 1e9

drillTest('limits: of a burst over all gateways a key is let through as often as its limit says', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  for (const limit of [20, 60, 200]) {
    const { key } = await createKey(cluster, 'alice', { limits: { requestsPerMinute: limit } })
    const startedAtMs = performance.now()
    const replies = await burst(cluster, key, limit + 100)
    const trickled = Math.ceil(((performance.now() - startedAtMs) * limit) / MINUTE_MS)
    const through = countOf(replies, 200)
    t.true(through >= limit && through <= limit + trickled, `${through} of ${limit}, and ${trickled} trickled`)
    t.is(through + countOf(replies, 429), replies.length)
  }
})

for (const cents of [1, 5])
  drillTest(`limits: bursts over all gateways spend a cap of ${cents} cents, and never more`, async (t) => {
    t.timeout(300_000)
    const cluster = await open()
    const cap = cents / 100
    const { id, key } = await createKey(cluster, 'bob', {
      limits: { costPerDay: cap },
      pipelineConfig: 'cost-guard',
    })
    let refusedAlone = 0
    for (let round = 0; round < 60 && refusedAlone < 3; round++) {
      const replies = await burst(cluster, key, 40)
      t.is(
        countOf(replies, 200) + countOf(replies, 429),
        replies.length,
        [...new Set(replies.map(({ text }) => text))].join(),
      )
      if (countOf(replies, 200) > 0) continue
      refusedAlone++
    }
    t.is(refusedAlone, 3, 'the cap is reached')
    const sums = async () => {
      const [row] = await cluster.sql(
        `select settled_nano_usd::float8 settled, held_nano_usd::float8 held from spend_window where scope like '%${id}' and window_id like 'd:%'`,
      )
      return row as { settled: number; held: number }
    }
    await eventually(async () => (await sums()).held === 0, 'nothing is held')
    const { settled } = await sums()
    t.true(settled <= cap * NANO, `${settled}`)
    t.true(settled >= 0.9 * cap * NANO, `${settled}`)
    t.log(`${((100 * settled) / NANO / cap).toFixed(1)} % of the cap spent`)
  })

function burst({ url }: Cluster, key: string, count: number): Promise<Reply[]> {
  return Promise.all(
    Array.from({ length: count }, (_, nth) =>
      send(url, { body: ask(`question ${nth}`, { ...(nth % 2 && { stream: true }) }), headers: bearer(key) }),
    ),
  )
}

function countOf(replies: readonly Reply[], status: number): number {
  return replies.filter((reply) => reply.status === status).length
}
