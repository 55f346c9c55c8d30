import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { GatewayError } from '../../src/core/errors.ts'
import { EVERYBODY, type Scopes } from '../../src/core/telemetry/telemetry.ts'
import { LiveFeed } from '../../src/http/dashboard/live-feed.ts'
import { LivePages } from '../../src/http/dashboard/live-pages.ts'
import { liveRoute } from '../../src/http/dashboard/live-route.ts'
import type { ReadViewer } from '../../src/http/dashboard/viewer.ts'
import type { RequestState } from '../../src/http/request-context.ts'
import { connectRaw } from '../support/raw-client.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** Time until the session of the stalled page ends, in milliseconds. */
const SESSION_MS = 1500

const ADA = {
  userId: 'ada',
  role: 'member' as const,
  isOperator: false,
  teamIds: [],
  mayChange: true,
  scopes: EVERYBODY,
  ownScopes: EVERYBODY,
  expiresAtMs: undefined,
}

/** Opens a page of the live feed; `publish` sends it a request of this scope, and returns the request's id. */
async function openPage(t: ExecutionContext, viewer: ReadViewer) {
  const works: (() => void)[] = []
  const feed = new LiveFeed((work) => void works.push(work))
  const live = new LivePages({ feed, channel: undefined, log: createRecordingLog() })
  const publish = (scope: string) => {
    const request = sampleRequest({ scope })
    feed.publish(request)
    for (const work of works.splice(0)) work()
    return request.id
  }
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  const app = new Koa<RequestState>()
  app.use(async ({ res }, next) => {
    await next()
    resolve(res)
  })
  app.use(liveRoute({ viewer, live, clock: { nowMs: () => Date.now() } }))
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = await connectRaw((server.address() as AddressInfo).port)
  t.teardown(() => client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  return { publish, client, response: await promise }
}

test.serial('live feed: nothing is written to a page that reads nothing after its session has ended', async (t) => {
  const { publish, response } = await openPage(t, async () => ({ ...ADA, expiresAtMs: Date.now() + SESSION_MS }))
  const errors: unknown[] = []
  // A gateway has no such listener: the error ends its process.
  response.on('error', (error) => errors.push(error))
  // As if the kernel's buffers were full: their size differs, and they take more for a while after they seemed full.
  Object.assign(response.socket ?? {}, { _write: () => {}, _writev: null })
  publish('ada')
  t.false(response.writableNeedDrain, 'the feed may write more')
  await pause(SESSION_MS)
  t.true(response.writableEnded)
  t.false(response.writableFinished, 'the connection is still full')
  publish('ada')
  await pause(20)
  t.deepEqual(errors, [])
})

test.serial(
  'live feed: an open page shows what its viewer may see now, and ends with the viewer’s access',
  async (t) => {
    const beats: (() => void)[] = []
    const timers = mock.method(globalThis, 'setInterval', (work: () => void) => void beats.push(work))
    t.teardown(() => timers.mock.restore())
    let scopes: Scopes | undefined = ['ada', 'team']
    const { publish, client } = await openPage(t, async () => {
      if (scopes === undefined) throw new GatewayError('authentication_error', 'The session has ended.')
      return { ...ADA, scopes }
    })
    const beat = async () => {
      for (const work of beats) work()
      await pause(0)
    }
    await client.until(publish('team'))
    scopes = ['ada', 'new']
    await beat()
    const [hidden, shown, last] = [publish('team'), publish('new'), publish('ada')]
    await client.until(last)
    t.true(client.received().includes(shown))
    t.false(client.received().includes(hidden))
    scopes = undefined
    await beat()
    await client.until('\r\n0\r\n')
  },
)
