import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { isDrill } from './drill.ts'
import { eventually } from './eventually.ts'
import { type Environment, startGateway } from './gateway.ts'
import { ask, send } from './http-client.ts'
import { createPluginDirectory, pluginSource } from './plugin-folders.ts'
import { freePort } from './ports.ts'

const DEMO = ask('hello', { model: 'demo/echo' })

const held = () =>
  process
    .getActiveResourcesInfo()
    .filter((name) => !name.startsWith('FSReq'))
    .sort()

/** Asserts that no timer, socket, watcher or thread remains that would keep the thread from ending. */
async function assertReleased(t: ExecutionContext, before: readonly string[]): Promise<void> {
  await eventually(() => held().length <= before.length, 'all resources are released', 15_000).catch(() => {})
  t.deepEqual(held(), before)
}

// Resources are those of the whole thread: tests run one after another.
test.serial('gateway: one that stops releases everything', async (t) => {
  const before = held()
  const redis = `redis://127.0.0.1:${await freePort()}`
  const all: Environment = {
    SVC_DASHBOARD: 'open',
    SVC_METRICS: 'on',
    SVC_PIPELINE: 'cost-guard,exact-cache,semantic-cache',
    SVC_COST_PER_DAY: '5',
  }
  const collector = createHttpServer((_, response) => response.writeHead(400, { connection: 'close' }).end()).listen(
    0,
    '127.0.0.1',
  )
  collector.unref() // held by the test
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo // safe: it listens on TCP
  const unreachable: Environment = {
    // Traces that a collector has refused are dropped, those that did not reach one are sent again for ten seconds.
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${isDrill ? 9 : port}`,
    REDIS_URL: redis,
  }
  for (const env of [all, { ...all, ...unreachable }]) {
    const gateway = await startGateway(env)
    t.is((await send(gateway.url, { body: DEMO })).status, 200)
    t.deepEqual(await gateway.stop(), { code: 0, signal: null })
    await assertReleased(t, before)
  }
  collector.close()
})

test.serial('gateway: one that cannot start releases what it has opened', async (t) => {
  const before = held()
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo // safe: it listens on TCP
  for (const [env, expected] of [
    [{ SVC_PIPELINE: 'no-such-module' }, /no-such-module/],
    [{ SVC_MODE: 'cloud', SVC_SESSION_SECRET: 'short' }, /at least 32 bytes/],
    [{ PORT: String(port) }, /EADDRINUSE/],
  ] as [Environment, RegExp][])
    await t.throwsAsync(startGateway(env), { message: expected })
  taken.close()
  await assertReleased(t, before)
})

test.serial('gateway: those that cannot start release their data folders before they are refused', async (t) => {
  const before = held()
  // Many at once: some are refused while a database is still being opened.
  const folders = Array.from({ length: 8 }, () => createPluginDirectory(t).path)
  const filesAtRefusal = await Promise.all(
    folders.map(async (folder) => {
      await t.throwsAsync(startGateway({ SVC_PIPELINE: 'no-such-module', SVC_DATA_DIR: folder }))
      return readdirSync(folder)
    }),
  )
  await assertReleased(t, before)
  t.deepEqual(
    folders.map((folder) => readdirSync(folder)),
    filesAtRefusal,
  )
})

test.serial('gateway: two in one thread share neither data nor log, and stop by themselves', async (t) => {
  const [one, other] = await Promise.all([startGateway(), startGateway()])
  t.teardown(other.stop)
  await send(one.url, { path: '/v1/messages?of=one', body: DEMO })
  await one.stop()
  t.is((await send(other.url, { body: DEMO })).status, 200)
  t.regex(one.log(), /gateway\.stopped/)
  t.notRegex(other.log(), /gateway\.stopped/)
})

test.serial(
  'gateway: a plugin that changed between two starts of one thread is loaded in its new version',
  async (t) => {
    const plugins = createPluginDirectory(t)
    const wordOf = async (word: string) => {
      plugins.put('shout/index.mjs', pluginSource('shout', { run: `ctx.set('x-word', '${word}'); await next()` }))
      await using gateway = await startGateway({ SVC_PLUGINS_DIR: plugins.path, SVC_PIPELINE: 'shout' })
      return (await send(gateway.url, { body: DEMO })).headers['x-word']
    }
    t.is(await wordOf('one'), 'one')
    t.is(await wordOf('other'), 'other')
  },
)

test.serial('gateway: an outage of Redis is logged by each gateway that has it', async (t) => {
  const env = { REDIS_URL: `redis://127.0.0.1:${await freePort()}`, SVC_PIPELINE: 'exact-cache' }
  const gateways = await Promise.all([startGateway(env), startGateway(env)])
  for (const gateway of gateways) {
    t.teardown(gateway.stop)
    await eventually(() => /store\.failed/.test(gateway.log()), 'the outage is logged')
    t.regex(gateway.log(), /store\.failed/)
  }
})
