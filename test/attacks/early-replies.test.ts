import test from 'ava'
import { isDrill } from '../support/drill.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { send } from '../support/http-client.ts'
import { connectRaw } from '../support/raw-client.ts'

/*
 * Replies that are sent while their request still arrives, to clients that close the connection with it, as proxies do
 * that speak HTTP/1.0. A reset would throw away a reply that they have not read.
 */

const BODY = Buffer.alloc(4 * 1024 * 1024, 'x')
const TIMES = isDrill ? 30 : 6
const fixture = await openFixture({ config: { server: { body_limit: '1MB', body_timeout: '10m' } } })
test.after.always(() => fixture.close())

for (const [what, method, path, status] of [
  ['a body that is too large', 'POST', '/v1/messages', 413],
  ['an unknown path', 'POST', '/v1/nothing', 404],
  ['a body that is not read', 'GET', '/health', 200],
] as const)
  for (const framing of ['content-length', 'chunks'])
    test(`early replies: ${what}, in ${framing}: every client that closes the connection gets its ${status}`, async (t) => {
      const headers = framing === 'chunks' ? { 'transfer-encoding': 'chunked' } : {}
      const statuses: number[] = []
      for (let i = 0; i < TIMES; i++) {
        const reply = await send(fixture.gateway.url, {
          method,
          path,
          headers: { ...headers, connection: 'close' },
          body: BODY,
        })
        statuses.push(reply.endedCleanly ? reply.status : 0)
      }
      t.deepEqual(
        statuses.filter((each) => each !== status),
        [],
      )
    })

const HEAD = 'POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: k\r\ncontent-type: application/json\r\n'

test('early replies: a client that stops sending behind its reply is cut soon, and no request behind it is taken', async (t) => {
  const scenario = fixture.scenario()
  const silent = await connectRaw(fixture.gateway.port)
  silent.write(`${HEAD}connection: close\r\ncontent-length: 4000000\r\n\r\nxxx`)
  const begunAtMs = performance.now()
  t.regex(await silent.closed, /^HTTP\/1\.1 413 /)
  // After a silence of 2 s; one that sends on is cut after 30 s.
  t.true(performance.now() - begunAtMs < 25_000)
  const pipelining = await connectRaw(fixture.gateway.port)
  const [name, value] = Object.entries(scenario.headers)[0] ?? []
  const body = '{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
  pipelining.write(`${HEAD}connection: close\r\ncontent-length: 4000000\r\n\r\n`)
  await pipelining.until('HTTP/1.1 413')
  pipelining.write(Buffer.alloc(4_000_000, 'x'))
  pipelining.write(`${HEAD}${name}: ${value}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  await pipelining.closed
  t.is(scenario.seen().length, 0)
})

test('early replies: a connection that is kept serves the next request', async (t) => {
  const client = await connectRaw(fixture.gateway.port)
  client.write(`${HEAD}content-length: 2000000\r\n\r\n`)
  await client.until('HTTP/1.1 413')
  client.write(Buffer.alloc(2_000_000, 'x'))
  const get = 'GET /health HTTP/1.1\r\nhost: a\r\n'
  client.write(`${get}\r\n`)
  await client.until('HTTP/1.1 200')
  client.write(`${get}connection: close\r\n\r\n`)
  await eventually(() => client.received().split('HTTP/1.1 200').length === 3, 'both are answered')
  await client.closed
  t.pass()
})
