import test from 'ava'
import { RedisBook } from '../../plugins/semantic-cache/entries/redis/redis-book.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { createRedis, isRedisExpected } from '../support/redis.ts'

const testWithRedis = isRedisExpected ? test : test.skip
const SCOPES = Array.from({ length: 10 }, (_, i) => `scope ${i}`)
const HOUR_MS = 3_600_000

testWithRedis('redis: after garbage each scope has its own entries again, and never those of another', async (t) => {
  const redis = await createRedis(t)
  const proxy = await startFaultProxy(redis.url)
  t.teardown(proxy.close)
  const clock = { nowMs: () => Date.now() }
  const book = new RedisBook({ url: proxy.url, clock, log: createRecordingLog() })
  t.teardown(() => book.close())
  book.follow({ onFact() {}, onForget() {} })
  const blockOf = (scope: string) => ({ kind: 'block', key: scope, expiresAtMs: Date.now() + HOUR_MS }) as const
  const fill = () => Promise.all(SCOPES.map((scope) => book.append(scope, [blockOf(scope)])))
  const isDone = (work: Promise<unknown>) =>
    work.then(
      () => true,
      () => false,
    )
  await eventually(() => isDone(fill()), 'the scopes are filled')
  await proxy.set({ kind: 'answers' })
  t.false(await isDone(book.load('scope 0', () => {})))
  await proxy.set(undefined)
  const keysIn = async (scope: string) => {
    const keys: string[] = []
    await book.load(scope, (facts) => void keys.push(...facts.map((fact) => ('key' in fact ? fact.key : fact.kind))))
    return keys
  }
  let own = 0
  await eventually(async () => {
    own = 0
    const found = await Promise.all(SCOPES.map((scope) => keysIn(scope).catch(() => [])))
    for (const [i, keys] of found.entries()) {
      t.deepEqual(
        keys.filter((key) => key !== SCOPES[i]),
        [],
        `what is in ${SCOPES[i]}`,
      )
      own += keys.length
    }
    return own === SCOPES.length
  }, 'all scopes can be loaded again')
  t.is(own, SCOPES.length)
})
