import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createKey, startCloudProcess } from '../test/support/accounts.ts'
import { startCountingRelay } from '../test/support/counting-relay.ts'
import { createTemplate, stamp } from './bodies.ts'
import { type CloudServers, owner, withCloudServers } from './cloud-servers.ts'
import { sendRequest } from './send-request.ts'

const REQUESTS = 400
const WARM_REQUESTS = 100
/** Background batches are sent a few times a second. */
const QUIET_MS = 1000

/** Makes each request unique. */
let counter = 0
await withCloudServers(measureAll)

async function measureAll({ postgres, redis, env }: CloudServers): Promise<void> {
  for (const [label, usd] of [
    ['far', 1_000_000],
    ['near', 4],
  ] as const) {
    const database = await startCountingRelay(owner, await postgres.createDatabase())
    const shared = await startCountingRelay(owner, redis.url)
    const countsNow = () => [database.counts.statements, database.counts.trips, shared.counts.pieces]
    const gateway = await startCloudProcess({
      DATABASE_URL: database.url,
      REDIS_URL: shared.url,
      ...env,
      SVC_COST_PER_DAY: String(usd),
      SVC_COST_PER_MONTH: String(usd),
    })
    owner.teardown(() => gateway.stop())
    const { key } = await createKey(gateway, 'bench')
    for (const connections of [1, 32]) {
      await send(gateway.url, { key, connections, requests: WARM_REQUESTS })
      const before = countsNow()
      await send(gateway.url, { key, connections, requests: REQUESTS })
      const each = countsNow().map((count, index) => ((count - (before[index] ?? 0)) / REQUESTS).toFixed(2))
      console.log(`| ${label}, ${connections} at a time | ${each.join(' | ')} |`)
    }
  }
}

async function send(
  url: string,
  { key, connections, requests }: { key: string; connections: number; requests: number },
): Promise<void> {
  const pool = new Pool(url, { connections })
  const template = createTemplate(
    { bodyBytes: 1024, stream: false },
    { dialect: 'messages', model: 'claude-sonnet-4-5' },
  )
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let left = requests
  const lane = async () => {
    const body = Buffer.from(template.bytes)
    while (left-- > 0) {
      stamp(body, template.counterOffset, ++counter)
      const { status } = await sendRequest(pool, { path: '/v1/messages', headers }, body)
      if (status !== 200) throw new Error(`answered with ${status}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, lane))
  await sleep(QUIET_MS)
  await pool.destroy()
}
