import { once } from 'node:events'
import { createServer } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { eventually, type Fixture, stateOf } from '../support/cache-fixture.ts'
import { assertMessageStream } from '../support/events.ts'
import { send } from '../support/http-client.ts'
import { freePort } from '../support/ports.ts'
import { createRedis, createRedisDatabase, isRedisExpected } from '../support/redis.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'
import { SHORT_WAIT_MS } from '../support/short-wait.ts'

const testWithRedis = isRedisExpected ? test.serial : test.serial.skip

async function fixtureOn(t: ExecutionContext, url: string): Promise<Fixture> {
  const fixture = await startSharedFixture({ env: { REDIS_URL: url } })
  t.teardown(fixture.close)
  return fixture
}

/** Resolves once a repeated question is a hit: the gateway has found its Redis. */
async function untilHits(fixture: Fixture, prompt: string): Promise<void> {
  await eventually(
    async () => stateOf(await fixture.ask(prompt)),
    (state) => state === 'hit',
  )
}

/** Sends new requests in both modes: each is answered as a miss, soon. */
async function assertGoesOn(t: ExecutionContext, fixture: Fixture, prompt: string): Promise<void> {
  for (let i = 0; i < 6; i++) {
    const stream = i % 2 === 0
    const reply = await fixture.ask(`${prompt} ${i}`, { stream, timeoutMs: SHORT_WAIT_MS })
    t.is(reply.status, 200)
    t.is(stateOf(reply), 'miss')
    if (stream) t.notThrows(() => assertMessageStream(reply.body))
  }
  t.is((await send(fixture.gateway.url, { method: 'GET', path: '/health' })).status, 200)
}

/** Sockets and files of this thread, the gateway's among them; nothing else runs meanwhile. */
const openResources = () => process.getActiveResourcesInfo().length

testWithRedis('redis: what one gateway stores, another one replays, in either mode', async (t) => {
  const redisUrl = await createRedisDatabase()
  const [one, other] = await Promise.all([fixtureOn(t, redisUrl), fixtureOn(t, redisUrl)])
  await Promise.all([untilHits(one, 'warm one'), untilHits(other, 'warm other')])
  // When Redis is late, on a busy machine, the other gateway calls the provider and stores that reply: then ask something new.
  let asked = 0
  const { prompt, live, replayed } = await eventually(
    async () => {
      const prompt = `${t.title} ${asked++}`
      const live = await one.ask(prompt, { stream: true })
      return { prompt, live, replayed: await other.ask(prompt, { stream: true }) }
    },
    ({ replayed }) => stateOf(replayed) !== 'miss',
  )
  t.is(replayed.text, live.text.replaceAll('event: ping\ndata: {"type": "ping"}\n\n', ''))
  await untilHits(other, prompt)
  t.is(stateOf(await other.ask(prompt, { as: 'caller-2' })), 'miss')
  t.is(stateOf(await other.ask(prompt, { headers: { 'cache-control': 'no-cache' } })), 'miss')
})

testWithRedis(
  'redis: when it is killed, requests are served, and when it is back, hits come back by themselves',
  async (t) => {
    const redis = await createRedis(t)
    const fixture = await fixtureOn(t, redis.url)
    await untilHits(fixture, t.title)
    const before = openResources()
    await redis.kill()
    await assertGoesOn(t, fixture, `${t.title}: down`)
    t.is((await fixture.ask(t.title, { timeoutMs: SHORT_WAIT_MS })).status, 200)
    await redis.start()
    await untilHits(fixture, `${t.title}: back`)
    await eventually(
      async () => openResources(),
      (count) => count <= before + 2,
    )
  },
)

testWithRedis('redis: when it hangs, requests are served, and when it resumes, hits come back', async (t) => {
  const redis = await createRedis(t)
  const fixture = await fixtureOn(t, redis.url)
  await untilHits(fixture, t.title)
  const before = openResources()
  redis.freeze()
  await assertGoesOn(t, fixture, `${t.title}: frozen`)
  t.regex(fixture.gateway.log(), /"reason":"the store did not answer within 250 ms".*"store.failed"/)
  redis.thaw()
  await untilHits(fixture, t.title)
  t.regex(fixture.gateway.log(), /"store.recovered"/)
  await eventually(
    async () => openResources(),
    (count) => count <= before + 2,
  )
})

testWithRedis('redis: one that hangs does not hold up the end', async (t) => {
  const redis = await createRedis(t)
  const fixture = await fixtureOn(t, redis.url)
  await untilHits(fixture, t.title)
  redis.freeze()
  t.is((await fixture.ask(`${t.title}: frozen`, { timeoutMs: SHORT_WAIT_MS })).status, 200)
  t.deepEqual(await fixture.gateway.stop(), { code: 0, signal: null })
})

testWithRedis('redis: many requests at once outlive its death', async (t) => {
  const redis = await createRedis(t)
  const fixture = await fixtureOn(t, redis.url)
  await untilHits(fixture, t.title)
  const asking = Array.from({ length: 40 }, (_, i) => fixture.ask(`${t.title} ${i % 10}`, { stream: i % 2 === 0 }))
  await Promise.all([redis.kill(), fixture.provider.until(() => fixture.provider.seen.length > 5)])
  for (const reply of await Promise.all(asking)) t.is(reply.status, 200)
})

test.serial('redis: one that cannot be reached neither stops the start nor the requests nor the end', async (t) => {
  const fixture = await fixtureOn(t, `redis://127.0.0.1:${await freePort()}`)
  await assertGoesOn(t, fixture, t.title)
  t.deepEqual(await fixture.gateway.stop(), { code: 0, signal: null })
})

test.serial(
  'redis: one that accepts connections and sends nothing neither stops the start nor the requests nor the end',
  async (t) => {
    const silent = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.teardown(() => silent.close())
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const fixture = await fixtureOn(t, `redis://127.0.0.1:${port}`)
    await assertGoesOn(t, fixture, t.title)
    t.deepEqual(await fixture.gateway.stop(), { code: 0, signal: null })
  },
)
