import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import Koa from 'koa'
import { EVERYBODY } from '../../src/core/telemetry/telemetry.ts'
import { LiveFeed } from '../../src/http/dashboard/live-feed.ts'
import { LivePages } from '../../src/http/dashboard/live-pages.ts'
import { liveRoute } from '../../src/http/dashboard/live-route.ts'
import type { RequestState } from '../../src/http/request-context.ts'
import { connectRaw } from '../support/raw-client.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** Time until the session of the page ends, in milliseconds. */
const SESSION_MS = 1500

test('live feed: nothing is written to a page that reads nothing after its session has ended', async (t) => {
  const works: (() => void)[] = []
  const feed = new LiveFeed((work) => void works.push(work))
  const live = new LivePages({ feed, channel: undefined, log: createRecordingLog() })
  const publish = () => {
    feed.publish(sampleRequest({ scope: 'ada' }))
    for (const work of works.splice(0)) work()
  }
  const viewer = async () => ({
    userId: 'ada',
    role: 'member' as const,
    isOperator: false,
    teamIds: [],
    mayChange: true,
    scopes: EVERYBODY,
    ownScopes: EVERYBODY,
    expiresAtMs: Date.now() + SESSION_MS,
  })
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
  const response = await promise
  const errors: unknown[] = []
  // A gateway has no such listener: the error ends its process.
  response.on('error', (error) => errors.push(error))
  // As if the kernel's buffers were full: their size differs, and they take more for a while after they seemed full.
  Object.assign(response.socket ?? {}, { _write: () => {}, _writev: null })
  publish()
  t.false(response.writableNeedDrain, 'the feed may write more')
  await pause(SESSION_MS)
  t.true(response.writableEnded)
  t.false(response.writableFinished, 'the connection is still full')
  publish()
  await pause(20)
  t.deepEqual(errors, [])
})
