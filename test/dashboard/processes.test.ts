import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { bearer, CLOUD, createKey, sendAs, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { childrenOf, hasProcessFacts } from '../support/process-facts.ts'
import { createRedis, isRedisExpected } from '../support/redis.ts'

/*
 * Each request has a connection of its own, and workers take them in turn: of several, some are another process's than the
 * feed's.
 */
const SEVERAL = 6
/** A worker that ends earlier ends the gateway. */
const REPLACED_AFTER_MS = 5000
const BODY = { model: 'demo/echo', max_tokens: 50, messages: [{ role: 'user', content: 'Who hears this?' }] }

/** Opens the feed of a process; returns a function that gives its text so far. */
async function watch(t: ExecutionContext, { url, port }: GatewayProcess, headers = {}): Promise<() => string> {
  const leaving = new AbortController()
  const { promise: isOpen, resolve } = Promise.withResolvers<void>()
  let text = ''
  const feed = send(url, {
    method: 'GET',
    path: '/dashboard/api/live',
    headers: { host: `127.0.0.1:${port}`, ...headers },
    signal: leaving.signal,
    timeoutMs: 120_000,
    onChunk: (chunk) => {
      text += chunk
      resolve()
    },
  })
  t.teardown(() => {
    leaving.abort()
    return feed
  })
  await isOpen
  return () => text
}

/** Sends a request on a connection of its own; resolves with the receipt's id. */
async function ask({ url }: Pick<GatewayProcess, 'url'>, headers = {}): Promise<string> {
  const reply = await send(url, { headers, body: BODY })
  return String(reply.headers['x-svc-receipt'])
}

/** Sends several requests to each gateway; resolves with the ids when the feed has them all. */
async function assertFed(fed: () => string, gateways: readonly GatewayProcess[], headers = {}): Promise<string[]> {
  const ids: string[] = []
  for (const gateway of gateways) for (let i = 0; i < SEVERAL; i++) ids.push(await ask(gateway, headers))
  await eventually(() => ids.every((id) => fed().includes(`id: ${id}\n`)), `a feed with ${ids}`)
  return ids
}

/** Queries each request until every process has had a turn, and asserts that its body is there each time. */
async function assertBodies(gateways: readonly GatewayProcess[], ids: readonly string[]): Promise<void> {
  for (const id of ids)
    for (const { url, port } of gateways) {
      const find = () =>
        send(url, { method: 'GET', path: `/dashboard/api/requests/${id}`, headers: { host: `127.0.0.1:${port}` } })
      await eventually(async () => (await find()).status === 200, `a row of ${id}`)
      await assertBody(find, id)
    }
}

/** Asserts that every process finds the body. One that is busy for a second has no turn: then all are asked again. */
async function assertBody(find: () => ReturnType<typeof send>, id: string): Promise<void> {
  await eventually(async () => {
    const texts = [await find(), await find(), await find()].map(({ json }) => valueAt(json, 'capture.request.text'))
    return texts.every((text) => /Who hears/.test(String(text)))
  }, `the body of ${id} in every process`)
}

test('processes: with workers, the feed has the requests of all, and bodies are found in any of them', async (t) => {
  const gateway = await startGatewayProcess({}, { args: ['--workers', '2'] })
  t.teardown(() => gateway.stop())
  const fed = await watch(t, gateway)
  await assertBodies([gateway], await assertFed(fed, [gateway]))
  t.deepEqual(fed().match(/^event: dropped$/gm), null)
})

test('processes: with workers, requests in flight of all are listed, and ended from any of them', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo // safe: it listens on TCP
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'k' }
  const gateway = await startGatewayProcess(env, { args: ['--workers', '2'] })
  t.teardown(async () => {
    await gateway.stop()
    silent.closeAllConnections()
    silent.close()
  })
  const call = (method: string, id = '') => {
    const headers = { host: `127.0.0.1:${gateway.port}`, origin: `http://127.0.0.1:${gateway.port}` }
    return send(gateway.url, { method, path: `/dashboard/api/in-flight${id}`, headers })
  }
  const listed = async () => valueAt((await call('GET')).json, 'data') as { id: string }[] // safe: the test fails otherwise
  const body = { ...BODY, model: 'claude-sonnet-4-5' }
  const waiting = Array.from({ length: SEVERAL }, () => send(gateway.url, { body }))
  // Each list is asked of another worker.
  for (const _ of [1, 2, 3]) await eventually(async () => (await listed()).length === SEVERAL, 'all requests in flight')
  let over = 0
  for (const request of waiting) void request.finally(() => over++)
  // A process that is busy for a second is left out: then it is asked again.
  await eventually(async () => {
    for (const { id } of await listed()) await call('DELETE', `/${id}`)
    return over === SEVERAL
  }, 'the end of all requests')
  for (const { status, text } of await Promise.all(waiting)) t.is(status, 403, text)
  await eventually(async () => (await listed()).length === 0, 'no request in flight')
})

test('processes: with workers in the cloud, users see their own requests alone, and all workers keep bodies when one gets the setting', async (t) => {
  const gateway = await startGatewayProcess(CLOUD, { args: ['--workers', '2'] })
  t.teardown(() => gateway.stop())
  const [ada, ben] = await Promise.all([createKey(gateway, 'ada'), createKey(gateway, 'ben')])
  const capture = (hours: number) =>
    sendAs('ada', gateway.url, { method: 'PUT', path: '/dashboard/api/capture', body: { hours } })
  t.is((await capture(1)).status, 200)
  const find = (id: string) => sendAs('ada', gateway.url, { method: 'GET', path: `/dashboard/api/requests/${id}` })
  /** Waits until the bodies of several requests in a row are kept, or not. */
  const untilKept = (isKept: boolean) =>
    eventually(
      async () => {
        for (let i = 0; i < SEVERAL; i++) {
          const id = await ask(gateway, bearer(ada.key))
          await eventually(async () => (await find(id)).status === 200, 'a row')
          if ((valueAt((await find(id)).json, 'capture') !== null) !== isKept) return false
        }
        return true
      },
      `all workers that ${isKept ? '' : 'do not '}keep bodies`,
    )
  await untilKept(true)
  if (hasProcessFacts) {
    const started = () => gateway.log().split('gateway.listening').length
    const [one = 0] = childrenOf(gateway.pid)
    await sleep(REPLACED_AFTER_MS)
    const before = started()
    process.kill(one, 'SIGKILL')
    await eventually(() => started() > before, 'another worker in its place')
    // It does not keep the first body, but asks then whether it should.
    for (let i = 0; i < 3 * SEVERAL; i++) await ask(gateway, bearer(ada.key))
    await untilKept(true)
  }
  const [adas, bens] = await Promise.all(
    ['ada', 'ben'].map(async (user) => watch(t, gateway, bearer(await sessionToken(user)))),
  )
  const of = (key: string) => bearer(key)
  const adaIds = await assertFed(adas ?? String, [gateway], of(ada.key))
  const benIds = await assertFed(bens ?? String, [gateway], of(ben.key))
  t.false(benIds.some((id) => adas?.().includes(id)))
  t.false(adaIds.some((id) => bens?.().includes(id)))
  for (const id of adaIds) {
    await eventually(async () => (await find(id)).status === 200, 'a row')
    await assertBody(() => find(id), id)
  }
  t.is((await find(benIds[0] ?? '')).status, 404)
  await capture(0)
  await untilKept(false)
})

const withRedis = isRedisExpected ? test : test.skip
withRedis(
  'processes: with Redis, the feed has the requests of all gateways, also after an outage of Redis',
  async (t) => {
    const redis = await createRedis(t)
    const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-peers-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const env = { REDIS_URL: redis.url, SVC_DATA_DIR: folder }
    const gateways = await Promise.all([startGatewayProcess(env), startGatewayProcess(env)])
    t.teardown(() => Promise.all(gateways.map((gateway) => gateway.stop())))
    const fed = await watch(t, gateways[0])
    await assertBodies(gateways, await assertFed(fed, gateways))
    await redis.kill()
    await assertFed(fed, [gateways[0]])
    await redis.start()
    // Requests that end during the outage are lost to the feed; later ones arrive once both are connected again.
    const later: string[] = []
    await eventually(async () => {
      later.push(await ask(gateways[1]))
      return later.some((id) => fed().includes(`id: ${id}\n`))
    }, 'a request of the other gateway in the feed')
    t.pass()
  },
)
