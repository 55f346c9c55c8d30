import { bearer, createKey, sendAs } from '../../support/accounts.ts'
import { runCommand } from '../../support/command-line.ts'
import { ask, type Reply, send } from '../../support/http-client.ts'
import { type JsonObject, valueAt } from '../../support/json.ts'
import { type Cluster, clusterTest, openCluster, SIZE } from '../cluster.ts'

let opened: Promise<Cluster> | undefined
const open = () => {
  opened ??= openCluster()
  return opened
}

const ROUNDS = 25

/** Sends a message with a key to each gateway at once. */
function askAll({ gateways }: Cluster, key: string, body: JsonObject = ask('hi')): Promise<Reply[]> {
  return Promise.all(gateways.map(({ url }) => send(url, { body, headers: bearer(key) })))
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)
const everywhere = (status: number) => Array.from({ length: SIZE }, () => status)

clusterTest('accounts: a key is known everywhere when it is made, and nowhere when it is revoked', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  for (let round = 0; round < ROUNDS; round++) {
    const { id, key } = await createKey(cluster.next(), 'alice')
    t.deepEqual(statuses(await askAll(cluster, key)), everywhere(200))
    const path = `/v1/keys/${id}`
    t.is((await sendAs('alice', cluster.next().url, { method: 'DELETE', path })).status, 204)
    t.deepEqual(statuses(await askAll(cluster, key)), everywhere(401))
  }
})

clusterTest('accounts: what an owner changes of a key holds everywhere for the next request', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  const { id, key } = await createKey(cluster.next(), 'bob')
  const change = (body: JsonObject) =>
    sendAs('bob', cluster.next().url, { method: 'PATCH', path: `/v1/keys/${id}`, body })
  for (let round = 0; round < ROUNDS; round++) {
    t.is((await change({ limits: { models: ['claude-opus-4-5'] } })).status, 200)
    t.deepEqual(statuses(await askAll(cluster, key)), everywhere(403))
    t.is((await change({ limits: null, pipelineConfig: 'exact-cache' })).status, 200)
    for (const { status, headers } of await askAll(cluster, key)) {
      t.is(status, 200)
      t.is(headers['x-svc-pipe'], 'exact-cache')
    }
    t.is((await change({ pipelineConfig: 'none' })).status, 200)
    for (const { headers } of await askAll(cluster, key)) t.is(headers['x-svc-pipe'], 'none')
  }
})

clusterTest('accounts: who is suspended is refused everywhere, and let in everywhere again', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  const { key } = await createKey(cluster.next(), 'carol')
  for (const [word, status] of [
    ['suspend', 403],
    ['resume', 200],
  ] as const) {
    const { code, stderr } = await runCommand(['account', word, 'carol'], { env: cluster.env })
    t.is(code, 0, stderr)
    t.deepEqual(statuses(await askAll(cluster, key)), everywhere(status))
  }
})

clusterTest('accounts: a session token is good everywhere, and every gateway lists the same keys', async (t) => {
  t.timeout(300_000)
  const cluster = await open()
  for (let nth = 0; nth < SIZE; nth++) await createKey(cluster.next(), 'dave', { name: `key ${nth}` })
  const lists = await Promise.all(
    cluster.gateways.map(({ url }) => sendAs('dave', url, { method: 'GET', path: '/v1/keys' })),
  )
  for (const { status, json } of lists) {
    t.is(status, 200)
    t.is(((valueAt(json, 'keys') as unknown[] | undefined) ?? (valueAt(json, 'data') as unknown[])).length, SIZE)
    t.deepEqual(json, lists[0]?.json)
  }
})
