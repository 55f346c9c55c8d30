import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { redisChannel } from '../../src/stores/channels/redis.ts'
import { createByteStores } from '../../src/stores/kv/stores.ts'
import { openLimiter } from '../../src/stores/limits/open.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { createRedisDatabase, isRedisExpected } from '../support/redis.ts'

const testWithRedis = isRedisExpected ? test : test.skip
const KEYS = Array.from({ length: 20 }, (_, i) => `key ${i}`)
const HOUR_MS = 3_600_000
const SHORT_MS = 200
/** A silent connection is noticed sooner than in production. */
const PINGS = { everyMs: 300, silentMs: 1200 }

async function openProxy(t: ExecutionContext): Promise<FaultProxy> {
  const proxy = await startFaultProxy(await createRedisDatabase())
  t.teardown(proxy.close)
  return proxy
}

/** Opens a store in which each key has itself as its value. */
async function openFilled(t: ExecutionContext, redisUrl: string) {
  const stores = await createByteStores({ redisUrl, log: createRecordingLog() })
  t.teardown(() => stores.close())
  const store = stores.open('test', { maxBytes: 1 })
  const fill = () => Promise.all(KEYS.map((key) => store.set(key, Buffer.from(key), HOUR_MS)))
  await eventually(() => fill().then(isTrue, isFalse), 'the store is filled')
  return store
}

const isTrue = () => true
const isFalse = () => false

testWithRedis('redis: after garbage no answer goes to another caller, and the store is used again', async (t) => {
  const proxy = await openProxy(t)
  const store = await openFilled(t, proxy.url)
  await proxy.set({ kind: 'answers' })
  await t.throwsAsync(store.get('key 0'))
  await proxy.set(undefined)
  let found = 0
  await eventually(async () => {
    const values = await Promise.all(KEYS.map((key) => store.get(key).catch(() => undefined)))
    for (const [i, key] of KEYS.entries()) if (values[i] !== undefined) t.is(values[i].toString(), key)
    found = values.filter((value) => value !== undefined).length
    return found === KEYS.length
  }, 'all is found')
  t.is(found, KEYS.length)
})

testWithRedis('redis: behind a store that hangs the next operations are not waited for', async (t) => {
  const proxy = await openProxy(t)
  const store = await openFilled(t, proxy.url)
  await proxy.set({ kind: 'hangs' })
  const late = await t.throwsAsync(store.get('key 0'))
  t.regex(String(late?.message), /did not answer within/)
  const next = await t.throwsAsync(store.get('key 1'))
  t.regex(String(next?.message), /failed a moment ago/)
})

testWithRedis('redis: a connection that the network has forgotten is replaced', async (t) => {
  const proxy = await openProxy(t)
  const store = await openFilled(t, proxy.url)
  await proxy.set({ kind: 'forgets' })
  await t.throwsAsync(store.get('key 0'))
  await proxy.set(undefined)
  await eventually(() => store.get('key 0').then(isTrue, isFalse), 'the store is used again', 15_000)
  t.pass()
})

testWithRedis('redis: a handshake that is not answered is given up, and tried again', async (t) => {
  const proxy = await openProxy(t)
  await proxy.set({ kind: 'forgets' })
  const stores = await createByteStores({ redisUrl: proxy.url, log: createRecordingLog() })
  t.teardown(() => stores.close())
  const store = stores.open('test', { maxBytes: 1 })
  await t.throwsAsync(store.get('key'))
  await proxy.set(undefined)
  await eventually(() => store.get('key').then(isTrue, isFalse), 'the store is used', 20_000)
  t.pass()
})

for (const kind of ['forgets', 'answers'] as const) {
  testWithRedis(`redis: a channel whose connections met with this is heard again: ${kind}`, async (t) => {
    const proxy = await openProxy(t)
    const [one, other] = ['one', 'other'].map(() => redisChannel(proxy.url, createRecordingLog(), PINGS))
    t.teardown(() => Promise.all([one?.close(), other?.close()]))
    const heard: string[] = []
    other?.subscribe('news', (text) => heard.push(text))
    const isHeard = async () => {
      const text = randomUUID()
      await one?.publish('news', text).catch(() => {})
      await sleep(50)
      return heard.filter((each) => each === text).length === 1
    }
    await eventually(isHeard, 'it is heard')
    await proxy.set({ kind })
    t.false(await isHeard())
    await proxy.set(undefined)
    await eventually(isHeard, 'it is heard again, once', 20_000)
  })
}

testWithRedis(
  'redis: a lease that its instance does not renew is free after its time, and one that it renews is not',
  async (t) => {
    const redisUrl = await createRedisDatabase()
    const [one, other] = [await openFilled(t, redisUrl), await openFilled(t, redisUrl)]
    t.true(await one.leases?.take('kept', HOUR_MS))
    t.true(await one.leases?.take('left', SHORT_MS))
    t.true(await one.leases?.take('shortened', HOUR_MS))
    await one.leases?.renew('shortened', SHORT_MS)
    for (const name of ['left', 'shortened'])
      await eventually(async () => (await other.leases?.take(name, HOUR_MS)) === true, `${name} is free`, 10_000)
    t.false(await other.leases?.take('kept', HOUR_MS))
    await one.leases?.release('kept')
    t.true(await other.leases?.take('kept', HOUR_MS))
  },
)

testWithRedis('redis: a value is gone after its time', async (t) => {
  const store = await openFilled(t, await createRedisDatabase())
  await eventually(() => store.set('short', Buffer.from('x'), SHORT_MS).then(isTrue, isFalse), 'it is set')
  // A store that is late rejects.
  const read = (key: string) => store.get(key).then(String, () => 'late')
  await eventually(async () => (await read('short')) === 'undefined', 'it is gone')
  await eventually(async () => (await read('key 0')) === 'key 0', 'the other is there')
  t.is(await store.get('short').catch(() => undefined), undefined)
})

testWithRedis('redis: services in two databases of one server do not hear each other', async (t) => {
  const [ours, theirs] = [await createRedisDatabase(), await createRedisDatabase()]
  const open = (url: string) => {
    const channel = redisChannel(url, createRecordingLog(), PINGS)
    t.teardown(() => channel.close())
    const heard: string[] = []
    channel.subscribe('news', (text) => heard.push(text))
    return { channel, heard }
  }
  const [one, other, stranger] = [open(ours), open(ours), open(theirs)]
  const areHeard = async () => {
    await one.channel.publish('news', 'ours').catch(() => {})
    await stranger.channel.publish('news', 'theirs').catch(() => {})
    return other.heard.length > 0 && stranger.heard.length > 0
  }
  await eventually(areHeard, 'each service hears itself')
  t.deepEqual([...new Set([...one.heard, ...other.heard])], ['ours'])
  t.deepEqual([...new Set(stranger.heard)], ['theirs'])
})

/** Limiters of two instances, and whether they count together. */
async function openLimiters(t: ExecutionContext, redisUrl: string) {
  const rule = { limit: 5, windowMs: HOUR_MS }
  const open = () => openLimiter(rule, { redisUrl, namespace: 'test', log: createRecordingLog() })
  const [one, other] = await Promise.all([open(), open()])
  t.teardown(() => Promise.all([one.close(), other.close()]))
  const areShared = async () => {
    const key = randomUUID()
    await one.take(key)
    return (await other.take(key)).remaining === rule.limit - 2
  }
  return { one, other, areShared }
}

testWithRedis('redis: limits are shared again after garbage', async (t) => {
  const proxy = await openProxy(t)
  const { one, other, areShared } = await openLimiters(t, proxy.url)
  await eventually(areShared, 'limits are shared')
  await proxy.set({ kind: 'answers' })
  await Promise.all([one.take('x'), other.take('x')])
  await proxy.set(undefined)
  await eventually(areShared, 'limits are shared again', 15_000)
  t.pass()
})

/** Readable garbage: every value read must be the requested one. */
const READABLE = ['#t', '#f', ':5', '+OK', '_', '*0', '*1\r\n:1', '*2\r\n+1\r\n:2', '$14\r\n{"value":true}', ',0.5']

testWithRedis('redis: a server with other answers is no Redis, for values and for limits', async (t) => {
  const redisUrl = await createRedisDatabase()
  const check = async (answer: string): Promise<void> => {
    const proxy = await startFaultProxy(redisUrl)
    t.teardown(proxy.close)
    const store = await openFilled(t, proxy.url)
    const { one, areShared } = await openLimiters(t, proxy.url)
    await eventually(areShared, 'limits are shared')
    await proxy.set({ kind: 'answers', bytes: Buffer.from(`${answer}\r\n`) })
    t.is(await store.get('key 0').catch(() => undefined), undefined, answer)
    const { isAllowed, resetMs } = await one.take('x')
    t.true(isAllowed, answer)
    t.true(Number.isFinite(resetMs), answer)
  }
  await Promise.all(READABLE.map(check))
})
