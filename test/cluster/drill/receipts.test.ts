import { bearer, createKey, sendAs } from '../../support/accounts.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, send } from '../../support/http-client.ts'
import { valueAt } from '../../support/json.ts'
import { type Cluster, clusterTest, openCluster } from '../cluster.ts'

let opened: Promise<Cluster> | undefined
const open = () => {
  opened ??= openCluster({ env: { SVC_RATE_LIMIT: '0' } })
  return opened
}

clusterTest('receipts: each gateway has the receipt of a reply that another has just given', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  const { key } = await createKey(cluster, 'alice')
  const headers = bearer(key)
  for (let round = 0; round < 20; round++) {
    const one = cluster.next()
    const reply = await send(one.url, { body: ask(`round ${round}`, { stream: round % 2 === 0 }), headers })
    const path = `/v1/receipts/${reply.headers['x-svc-receipt']}`
    const found = await Promise.all(cluster.gateways.map(({ url }) => send(url, { method: 'GET', path, headers })))
    for (const { status, json } of found) {
      t.is(status, 200)
      t.deepEqual(json, found[0]?.json)
    }
  }
})

clusterTest('receipts: all gateways sign with the same key', async (t) => {
  const cluster = await open()
  const path = '/.well-known/turnpike-keys'
  const keys = await Promise.all(cluster.gateways.map(({ url }) => send(url, { method: 'GET', path })))
  for (const { json } of keys) t.deepEqual(json, keys[0]?.json)
})

clusterTest('dashboard: each gateway lists what all of them have done', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  const { key } = await createKey(cluster, 'carol')
  const replies = await Promise.all(
    cluster.gateways.map(({ url }) => send(url, { body: ask('to be listed'), headers: bearer(key) })),
  )
  const ids = replies.map(({ headers }) => String(headers['x-svc-receipt'])).sort()
  const listed = async (url: string) => {
    const { json } = await sendAs('carol', url, { method: 'GET', path: '/dashboard/api/requests' })
    const rows = valueAt(json, 'data')
    return Array.isArray(rows) ? rows.map((row) => String(valueAt(row, 'id'))).sort() : []
  }
  for (const { url } of cluster.gateways)
    await eventually(async () => (await listed(url)).join() === ids.join(), `${url} lists ${ids.length} requests`)
  t.pass()
})
