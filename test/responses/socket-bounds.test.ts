import test from 'ava'
import { send } from '../support/http-client.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'
import { open } from './socket-client.ts'

const PART_BYTES = 200 * 1024
const config = {
  responses: { sockets: { most_of_caller: 8 } },
  server: { body_limit: '256KB', bodies_at_once: '1MB' },
}
const fixture = await openProviderFixture({ config })
test.after.always(() => fixture.close())

const announce = { model: MODELS.anthropic, input: 'Soon.', generate: false }

test.serial('socket bounds: unfinished messages of sockets count against the budget of bodies', async (t) => {
  const headers = { ...fixture.scenario().headers, authorization: 'Bearer hoarder' }
  const clients = await Promise.all(Array.from({ length: 6 }, () => open(fixture.gateway.url, headers)))
  t.teardown(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())))
  for (const { socket } of clients) {
    socket.on('error', () => {})
    socket.send(Buffer.alloc(PART_BYTES, ' '), { binary: false, fin: false })
  }
  // Cut without a closing handshake.
  t.is(await Promise.race(clients.map(({ closed }) => closed)), 1006)
  t.true(clients.filter(({ socket }) => socket.readyState === socket.OPEN).length >= 4)
  const other = { authorization: 'Bearer modest' }
  const body = { model: MODELS.anthropic, input: 'x'.repeat(PART_BYTES) }
  const reply = await send(fixture.gateway.url, {
    path: '/v1/responses',
    headers: { ...fixture.scenario().headers, ...other },
    body,
  })
  t.is(reply.status, 200, reply.text)
})

test.serial('socket bounds: a message that has arrived no longer counts', async (t) => {
  await using client = await open(fixture.gateway.url, fixture.scenario().headers)
  for (let sent = 0; sent < 10; sent++) {
    const events = await client.ask({ ...announce, instructions: 'x'.repeat(PART_BYTES) })
    t.is(events.at(-1)?.type, 'response.completed')
  }
})

test.serial('socket bounds: messages that are no request are no way around the rate limit', async (t) => {
  await using client = await open(fixture.gateway.url, fixture.scenario().headers)
  for (let sent = 0; sent < 12; sent++) t.is((await client.ask(announce)).at(-1)?.type, 'response.completed')
  await client.ask({ model: MODELS.anthropic, input: t.title })
  for (let sent = 0; sent < 17; sent++) client.send({ type: 'response.create', ...announce })
  t.is(await client.closed, 1008)
})
