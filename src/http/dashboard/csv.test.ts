import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import Koa from 'koa'
import { EVERYBODY } from '../../core/telemetry/telemetry.ts'
import { sendCsv, sendJsonl } from './csv.ts'
import type { Viewer } from './viewer.ts'

/*
 * Files of any length: the rows are read as the client takes them, and no longer than it does.
 */
const ROW = 'x'.repeat(1000)
const PAGE_BYTES = 500 * (ROW.length + 2)
/** Bound on what the sockets of both ends hold. */
const MOST_AHEAD_BYTES = 8 * 1024 ** 2
const ENDLESS = 1_000_000
const VIEWER: Viewer = {
  userId: undefined,
  role: 'operator',
  isOperator: true,
  teamIds: [],
  mayChange: true,
  expiresAtMs: undefined,
  scopes: EVERYBODY,
  ownScopes: EVERYBODY,
}

for (const [name, send] of [
  ['csv', sendCsv],
  ['jsonl', sendJsonl],
] as const)
  test(`${name}: a file without an end is read no faster than its client reads, and not after the client has left`, async (t) => {
    let pages = 0
    const left = Promise.withResolvers<void>()
    const app = new Koa()
    app.silent = true
    app.use((ctx) => {
      const page = async (_: string | undefined, limit: number) => {
        if (++pages > ENDLESS) throw new Error('nothing holds the reading back')
        return Array.from({ length: limit }, () => ROW)
      }
      send(ctx, { name: 'x', columns: [['row', (row: string) => row]], page, user: VIEWER, viewer: async () => VIEWER })
      // Safe: both send a stream.
      ;(ctx.body as NodeJS.EventEmitter).once('close', () => left.resolve())
    })
    const server = app.listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    // Safe: the server listens on a port.
    const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false })
    const [reply] = (await once(request, 'response')) as [IncomingMessage]
    let takenBytes = 0
    for await (const piece of reply) {
      takenBytes += (piece as Buffer).length
      t.true(pages * PAGE_BYTES - takenBytes < MOST_AHEAD_BYTES, `${pages} pages for ${takenBytes} bytes`)
      if (takenBytes > 2 * MOST_AHEAD_BYTES) break
    }
    await left.promise
    const before = pages
    await new Promise((resolve) => setImmediate(resolve))
    t.is(pages, before)
  })
