import { Agent } from 'node:http'
import test from 'ava'
import { assertMessageStream } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { type Fixture, OPERATOR_KEY, openFixture, openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { childrenOf, hasProcessFacts } from '../support/process-facts.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'
import { connectRaw } from '../support/raw-client.ts'
import { startProvider } from '../support/stand-in-provider.ts'

/** A gateway that is cut for want of patience has code `null`. */
const LONGEST_MS = 40_000
const streamed = { body: ask('hello there', { stream: true }) }

/** Resolves when the gateway takes no more connections. */
const refusing = (port: number) =>
  eventually(
    () =>
      connectRaw(port).then(
        (client) => {
          client.destroy()
          return false
        },
        () => true,
      ),
    'new connections are refused',
  )

/** Sends a request whose reply is in flight and waits for `release`. */
async function underWay(fixture: Fixture, agent?: Agent) {
  const gate = Promise.withResolvers<void>()
  const script: Script = { kind: 'answer', writes: holdEvent(3, gate.promise) }
  const scenario = fixture.scenario(script)
  const begun = Promise.withResolvers<void>()
  const reply = scenario.send({ ...streamed, onChunk: () => begun.resolve(), ...(agent && { agent }) })
  await begun.promise
  return { reply, release: gate.resolve }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`drain: on ${signal} a running stream finishes, new connections are refused, and the exit code is 0`, async (t) => {
    await using fixture = await openFixtureWith(startGatewayProcess)
    const { reply, release } = await underWay(fixture)
    process.kill(fixture.gateway.pid, signal)
    await refusing(fixture.gateway.port)
    release()
    t.notThrows(async () => assertMessageStream((await reply).body))
    t.true((await reply).endedCleanly)
    t.deepEqual(await fixture.gateway.exited, { code: 0, signal: null })
  })
}

test('drain: a request whose reply has not begun is answered as well', async (t) => {
  await using fixture = await openFixture()
  const gate = Promise.withResolvers<void>()
  const scenario = fixture.scenario({ kind: 'answer', before: { until: gate.promise } })
  const reply = scenario.send({ body: ask('late') })
  await fixture.provider.until(() => scenario.seen().length === 1)
  const ended = fixture.gateway.stop(LONGEST_MS)
  await refusing(fixture.gateway.port)
  gate.resolve()
  t.is((await reply).status, 200)
  t.is((await ended).code, 0)
})

test('drain: a kept-alive connection does not hold the exit up once its reply is out', async (t) => {
  await using fixture = await openFixture({ config: { server: { drain_timeout: '10m' } } })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const { reply, release } = await underWay(fixture, agent)
  const ended = fixture.gateway.stop(LONGEST_MS)
  await refusing(fixture.gateway.port)
  release()
  t.true((await reply).endedCleanly)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await eventually(() => isOver, 'the gateway ends when its last reply is out, not when drain_timeout ends')
  t.is((await ended).code, 0)
})

test('drain: of kept-alive connections each is closed when its reply is out, however long after the first', async (t) => {
  await using fixture = await openFixture({ config: { server: { drain_timeout: '10m' } } })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const [first, second] = [await underWay(fixture, agent), await underWay(fixture, agent)]
  const ended = fixture.gateway.stop(LONGEST_MS)
  await refusing(fixture.gateway.port)
  const open = () => [agent.sockets, agent.freeSockets].flatMap((sockets) => Object.values(sockets)).flat().length
  first.release()
  t.true((await first.reply).endedCleanly)
  await eventually(() => open() === 1, 'the first connection is closed')
  second.release()
  t.true((await second.reply).endedCleanly)
  t.deepEqual(await ended, { code: 0, signal: null })
})

test('drain: what does not finish within drain_timeout is cut, and the exit code is 0', async (t) => {
  await using fixture = await openFixture({ config: { server: { drain_timeout: '1s' } } })
  const { reply } = await underWay(fixture)
  const ended = fixture.gateway.stop(LONGEST_MS)
  t.false((await reply).endedCleanly)
  t.deepEqual(await ended, { code: 0, signal: null })
})

test('drain: a second signal ends the process at once', async (t) => {
  await using fixture = await openFixtureWith(startGatewayProcess)
  const { reply } = await underWay(fixture)
  process.kill(fixture.gateway.pid, 'SIGTERM')
  await refusing(fixture.gateway.port)
  let isOver = false
  void fixture.gateway.exited.then(() => {
    isOver = true
  })
  await eventually(() => {
    if (!isOver) signalAgain(fixture.gateway.pid) // one that follows at once may be taken for the same
    return isOver
  }, 'the gateway has ended')
  t.false((await reply).endedCleanly)
  t.not((await fixture.gateway.exited).code, 0)
})

/** Sends another signal to a process that may have ended: its exit is reported a moment later. */
function signalAgain(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {}
}

test('drain: with nothing in flight the end is immediate and clean', async (t) => {
  await using fixture = await openFixture({ config: { server: { drain_timeout: '10m' } } })
  t.deepEqual(await fixture.gateway.stop(LONGEST_MS), { code: 0, signal: null })
})

test('drain: for drain_delay it is not ready, serves all the same, and closes each connection with its reply', async (t) => {
  await using fixture = await openFixtureWith(startGatewayProcess, { config: { server: { drain_delay: '10m' } } })
  const { url, pid } = fixture.gateway
  const ready = () => send(url, { method: 'GET', path: '/ready' })
  t.like(await ready(), { status: 200, json: { status: 'ready' } })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.is((await fixture.scenario().send({ ...streamed, agent })).headers.connection, 'keep-alive')
  process.kill(pid, 'SIGTERM')
  await eventually(async () => (await ready()).status === 503, 'it is not ready')
  t.like(await ready(), { json: { status: 'draining' } })
  t.like(await send(url, { method: 'GET', path: '/health' }), { status: 200, json: { status: 'ok' } })
  for (const body of [streamed.body, ask('hello'), 'not JSON']) {
    const reply = await fixture.scenario().send({ body, agent })
    t.is(reply.status, body === 'not JSON' ? 400 : 200)
    t.is(reply.headers.connection, 'close')
  }
  t.notRegex(fixture.gateway.log(), /request\.failed/)
  await fixture.gateway.stop(0) // its delay is not over for ten minutes
})

const workers = { args: ['--workers', '2'], waitMs: 50_000 }

test('workers: two processes answer on one port, and both end with the first on SIGTERM', async (t) => {
  await using provider = await startProvider({ apiKey: OPERATOR_KEY })
  const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: OPERATOR_KEY }
  await using gateway = await startGatewayProcess(env, workers)
  const startedAt = new Set<unknown>()
  for (let i = 0; i < 20; i++) {
    const { json } = await send(gateway.url, { method: 'GET', path: '/health' })
    startedAt.add(JSON.stringify((json as { startedAt: number }).startedAt))
    t.is((await send(gateway.url, streamed)).status, 200)
  }
  const children = hasProcessFacts ? childrenOf(gateway.pid) : []
  if (hasProcessFacts) t.is(children.length, 2)
  process.kill(gateway.pid, 'SIGTERM')
  t.deepEqual(await gateway.exited, { code: 0, signal: null })
  for (const pid of children) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

test('workers: a signal to the whole group, as a terminal sends it, drains too', async (t) => {
  await using provider = await startProvider({ apiKey: OPERATOR_KEY })
  const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: OPERATOR_KEY }
  await using gateway = await startGatewayProcess(env, workers)
  const gate = Promise.withResolvers<void>()
  provider.reply({ kind: 'answer', writes: holdEvent(3, gate.promise) })
  const begun = Promise.withResolvers<void>()
  const reply = send(gateway.url, { ...streamed, onChunk: () => begun.resolve() })
  await begun.promise
  process.kill(-gateway.pid, 'SIGINT')
  await refusing(gateway.port)
  gate.resolve()
  t.true((await reply).endedCleanly)
  t.is((await gateway.exited).code, 0)
})

test('drain: a part that fails to close is logged, everything behind it is closed, and the exit code is 0', async (t) => {
  const preload = new URL('matrix/preloads/sockets.ts', import.meta.url).href
  const env = { NODE_OPTIONS: `--import=${preload}`, SVC_PIPELINE: 'cost-guard?per_day=5' }
  await using fixture = await openFixtureWith(startGatewayProcess, { env })
  t.is((await fixture.scenario().send({ body: ask('paid for') })).status, 200)
  t.deepEqual(await fixture.gateway.stop(), { code: 0, signal: null })
  t.regex(fixture.gateway.log(), /"part":"providers".*gateway\.close-failed/)
  t.regex(fixture.gateway.log(), /gateway\.stopped/)
})
