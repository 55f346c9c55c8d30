import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  type AskOptions,
  eventually,
  type Fixture,
  startFixture,
  stateOf,
  untilCacheOpen,
} from '../support/cache-fixture.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { createRedis, createRedisDatabase, isRedisExpected } from '../support/redis.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'
import { SHORT_WAIT_MS } from '../support/short-wait.ts'
import { rowsOf } from '../support/telemetry.ts'
import { untilKnown } from './until-known.ts'

const ASKED = 'How do I wax a sledge?'
const AGAIN = 'Hi! Could you tell me how to wax a sledge?'
const PIPE = 'semantic-cache'
type Environment = Readonly<Record<string, string>>

async function dataFolder(t: ExecutionContext): Promise<Environment> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-lasting-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { SVC_DATA_DIR: folder }
}

async function fixtureOn(t: ExecutionContext, env: Environment, start = startSharedFixture): Promise<Fixture> {
  const fixture = await start({ env })
  t.teardown(fixture.close)
  return fixture
}

const ask = (fixture: Fixture, prompt: string, options?: AskOptions) => fixture.ask(prompt, { pipe: PIPE, ...options })
/** Limits the wait while the store of entries does not answer, which adds at most two seconds. */
const waiting = { timeoutMs: SHORT_WAIT_MS }

/** Asks until the cache does this; gives what it said. */
async function untilState(fixture: Fixture, prompt: string, state: string) {
  const told = async () => {
    const reply = await ask(fixture, prompt)
    return { state: stateOf(reply), text: reply.text, entry: String(reply.headers['x-svc-cache-entry']) }
  }
  return await eventually(told, (reply) => reply.state === state)
}

const databaseOf = (env: Environment) => path.join(env.SVC_DATA_DIR ?? '', 'plugins/semantic-cache/entries.db')

const PLACES: Readonly<Record<string, (t: ExecutionContext) => Promise<Environment>>> = {
  local: dataFolder,
  ...(isRedisExpected && {
    redis: async (t: ExecutionContext) => ({ ...(await dataFolder(t)), REDIS_URL: await createRedisDatabase() }),
  }),
}

/** An engine to freeze and kill, with the environment of gateways that use it. */
interface Engine extends Pick<Awaited<ReturnType<typeof createRedis>>, 'freeze' | 'thaw' | 'kill' | 'start'> {
  readonly env: Environment
  /** Rows of telemetry, where gateways of this engine keep it. */
  rows(sql: string): Promise<readonly object[]>
}

const ENGINES: Readonly<Record<string, (t: ExecutionContext) => Promise<Engine>>> = {
  ...(isRedisExpected && {
    redis: async (t: ExecutionContext): Promise<Engine> => {
      const redis = await createRedis(t)
      const env: Environment = { ...(await dataFolder(t)), REDIS_URL: redis.url }
      return { ...redis, env, rows: (sql) => rowsOf(env.SVC_DATA_DIR ?? '', sql) }
    },
  }),
}

for (const [name, createPlace] of Object.entries(PLACES)) {
  // One database server for all, which may be slow.
  const declare = name === 'postgres' ? test.serial : test
  declare(`${name}: what was answered before a restart is found after it`, async (t) => {
    const env = await createPlace(t)
    const before = await startSharedFixture({ env })
    const first = await untilState(before, ASKED, 'hit')
    await before.close()
    const after = await fixtureOn(t, env)
    await untilCacheOpen(after.ask)
    const found = await ask(after, AGAIN)
    t.is(stateOf(found), 'semantic')
    t.is(found.text, first.text)
    t.is(after.calls(ASKED), 0)
  })

  declare(`${name}: what one gateway learns, another one knows`, async (t) => {
    const env = await createPlace(t)
    const [one, other] = await Promise.all([fixtureOn(t, env), fixtureOn(t, env)])
    await Promise.all([untilCacheOpen(one.ask), untilCacheOpen(other.ask)])
    await untilState(one, ASKED, 'hit')
    await untilKnown(one, other)
    t.is(stateOf(await ask(other, AGAIN)), 'semantic')
    t.is(other.calls(ASKED), 0)
  })

  declare(`${name}: evicting an entry, and all, takes effect on a running gateway`, async (t) => {
    const env = await createPlace(t)
    // The entries are looked at: a second caller would have some, too.
    const fixture = await fixtureOn(t, env, startFixture)
    await untilCacheOpen(fixture.ask)
    const { entry: id } = await untilState(fixture, ASKED, 'hit')
    const cache = async (words: string, expected = 0) => {
      const { code, stdout, stderr } = await runCommandInThread(['cache', ...words.split('/'), '--json'], { env })
      t.is(code, expected, stderr)
      return JSON.parse(stdout)
    }
    const stats = await cache('stats')
    t.is(stats.engine, name)
    t.true(stats.entries >= 1, JSON.stringify(stats))
    const inspected = await cache('inspect/WAX a sledge')
    t.is(inspected.shown[0].text, ASKED)
    t.is(inspected.shown[0].id, id)
    const evicted = await runCommand(['cache', 'evict', id, '--json'], { env })
    t.deepEqual(JSON.parse(evicted.stdout), { evicted: 1 })
    await untilState(fixture, ASKED, 'miss')
    await untilState(fixture, ASKED, 'hit')
    await cache('evict/all')
    await untilState(fixture, ASKED, 'miss')
    t.deepEqual(await cache('evict/nothingatall', 1), { evicted: 0 })
  })
}

test('local: a damaged file is set aside and logged, and a new one begun', async (t) => {
  const env = await dataFolder(t)
  const before = await startSharedFixture({ env })
  await untilState(before, ASKED, 'hit')
  await before.close()
  await damage(databaseOf(env))
  const after = await fixtureOn(t, env)
  t.is(stateOf(await ask(after, ASKED)), 'miss')
  await untilState(after, ASKED, 'hit')
  // The answer may come out of memory, before the file is looked at.
  await eventually(
    async () => after.gateway.log(),
    (log) => log.includes('entries.damaged'),
  )
  t.true((await readdir(path.dirname(databaseOf(env)))).includes('entries.db.damaged'))
})

test('local: a file that is damaged under a running gateway costs misses, and heals', async (t) => {
  const env = await dataFolder(t)
  const fixture = await fixtureOn(t, env)
  await untilState(fixture, ASKED, 'hit')
  await damage(databaseOf(env))
  await damage(`${databaseOf(env)}-wal`)
  for (let i = 0; i < 5; i++) t.is((await ask(fixture, `How do I paint kayak ${i}?`)).status, 200)
  await untilCacheOpen(fixture.ask)
  await untilState(fixture, ASKED, 'hit')
})

test('local: without a place to write, requests go on as misses, and the log has the reason', async (t) => {
  const env = await dataFolder(t)
  await writeFile(path.join(env.SVC_DATA_DIR ?? '', 'plugins'), 'not a folder')
  const fixture = await fixtureOn(t, { ...env, LOG_LEVEL: 'debug' })
  for (let i = 0; i < 3; i++) t.is(stateOf(await ask(fixture, ASKED)), 'miss')
  await eventually(
    async () => fixture.gateway.log(),
    (log) => log.includes('entries.thread-failed'),
  )
})

for (const [name, createEngine] of Object.entries(ENGINES)) {
  test(`${name}: gone, or hanging, it costs misses; back, it answers again`, async (t) => {
    const { env, rows, freeze, thaw, kill, start } = await createEngine(t)
    const fixture = await fixtureOn(t, { ...env, LOG_LEVEL: 'debug' })
    await untilState(fixture, ASKED, 'hit')
    freeze()
    for (let i = 0; i < 4; i++) {
      const reply = await ask(fixture, `How do I paint kayak ${i}?`, waiting)
      t.is(reply.status, 200)
      t.is(stateOf(reply), 'miss')
    }
    await untilState(fixture, AGAIN, 'miss')
    const { headers } = await ask(fixture, AGAIN, waiting)
    thaw()
    await untilCacheOpen(fixture.ask)
    const traces = async () => rows(`select trace from usage_request where id = '${headers['x-svc-receipt']}'`)
    const [trace] = await eventually(traces, ({ length }) => length === 1)
    t.regex(JSON.stringify(trace), /unreachable/)
    await kill()
    await untilState(fixture, AGAIN, 'miss')
    for (let i = 0; i < 4; i++) t.is(stateOf(await ask(fixture, `How do I paint canoe ${i}?`, waiting)), 'miss')
    await start()
    await untilState(fixture, 'How do I paint canoe 0?', 'hit')
  })
}

async function damage(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  const { size } = await handle.stat()
  await handle.write(Buffer.alloc(Math.min(size, 64 * 1024), 0x5a), 0)
  await handle.close()
}
