import test from 'ava'
import { AGENT, credential, openAgentFixture, readChallenge } from '../payments/agent-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { connectRaw, type RawClient } from '../support/raw-client.ts'

const QUOTE = '/v1/agent/quote'
const SESSIONS = '/v1/agent/sessions'
const MB = 1024 * 1024

/** A body of about this many bytes that a provider would take. */
const bodyOf = (bytes: number) =>
  JSON.stringify({ ...ask('hi', { max_tokens: 10 }), metadata: { user_id: 'x'.repeat(bytes) } })

/** Announces a body of 900 KB and sends a part of it. */
async function sendHalf(
  port: number,
  { path, part, key }: { path: string; part: number; key?: string },
): Promise<RawClient> {
  const client = await connectRaw(port)
  const credential = key === undefined ? [] : [`authorization: Bearer ${key}`]
  const head = [`POST ${path} HTTP/1.1`, 'host: a', 'content-type: application/json', 'content-length: 900000']
  client.write(`${[...head, ...credential].join('\r\n')}\r\n\r\n${' '.repeat(part)}`)
  return client
}

/** The replies of those whose body was given up. */
const refused = (clients: readonly RawClient[]) =>
  clients.map((client) => client.received()).filter((text) => text.startsWith('HTTP/1.1 503'))

test('unpaid bodies: 900 KB are quoted, challenged and paid for; 2 MB are 413 without a credential and with a challenge', async (t) => {
  await using agentFixture = await openAgentFixture()
  const agent = agentFixture.agent()
  const honest = bodyOf(900_000)
  t.is((await agent.send({ path: QUOTE, body: honest })).status, 200)
  const challenge = await agent.ask(honest)
  const token = agent.grant({ maxCents: 5000 })
  const headers = { authorization: credential(challenge, token) }
  for (const path of [QUOTE, AGENT])
    for (const options of [{}, { headers }, { headers: { 'transfer-encoding': 'chunked' } }])
      t.is((await agent.send({ path, body: bodyOf(2 * MB), ...options })).status, 413, path)
  t.is((await agent.pay(honest, challenge, token)).status, 200)
  t.is(agent.calls(), 1)
})

test('unpaid bodies: a call of a paid session may have 2 MB, and one of an invented session may not', async (t) => {
  await using agentFixture = await openAgentFixture()
  const agent = agentFixture.agent()
  const challenge = readChallenge(await agent.send({ path: SESSIONS }))
  const paid = { authorization: credential(challenge, agent.grant({ maxCents: 5000 })) }
  const session = await agent.send({ path: SESSIONS, headers: paid })
  const authorization = String(valueAt(session.json, 'authorization'))
  const body = bodyOf(2 * MB)
  t.is((await agent.send({ body, headers: { authorization } })).status, 200)
  const invented = JSON.parse(Buffer.from(authorization.slice('Payment '.length), 'base64url').toString())
  invented.challenge.id = 'A'.repeat(43)
  const forged = `Payment ${Buffer.from(JSON.stringify(invented)).toString('base64url')}`
  t.is((await agent.send({ body, headers: { authorization: forged } })).status, 413)
})

test('unpaid bodies: those that stop half-way are 408 and cut off long before those of callers', async (t) => {
  const config = { server: { unpaid_bodies: { timeout: '1s' } } }
  await using agentFixture = await openAgentFixture({}, {}, config)
  for (const path of [QUOTE, AGENT]) {
    const client = await sendHalf(agentFixture.fixture.gateway.port, { path, part: 10 })
    t.regex(await client.closed, /^HTTP\/1\.1 408 .*connection: close/is)
  }
})

test('unpaid bodies: half-sent ones share a budget, and a client that sends is served', async (t) => {
  const config = { server: { unpaid_bodies: { at_once: '1MB' } } }
  await using agentFixture = await openAgentFixture({}, {}, config)
  const { port } = agentFixture.fixture.gateway
  const clients: RawClient[] = []
  for (const path of [QUOTE, AGENT, QUOTE, AGENT]) clients.push(await sendHalf(port, { path, part: 450_000 }))
  await eventually(() => refused(clients).length === 2, 'two of the four bodies are refused')
  t.regex(refused(clients)[0] ?? '', /retry-after: 1.*service_unavailable/is)
  t.is((await agentFixture.agent().send({ path: QUOTE, body: ask('hi', { max_tokens: 10 }) })).status, 200)
  for (const client of clients) client.destroy()
})

test('half-sent bodies: the caller with the most loses one, and another is served', async (t) => {
  await using fixture = await openFixture({ config: { server: { body_limit: '1MB', bodies_at_once: '1MB' } } })
  const { port } = fixture.gateway
  const honest = await sendHalf(port, { path: '/v1/messages', part: 100_000, key: 'honest' })
  const greedy: RawClient[] = []
  for (let i = 0; i < 3; i++) greedy.push(await sendHalf(port, { path: '/v1/messages', part: 450_000, key: 'greedy' }))
  await eventually(() => refused(greedy).length === 1, 'a body of the greedy caller is refused')
  t.is((await fixture.scenario().send({ body: ask('hi') })).status, 200)
  t.is(honest.received(), '')
  for (const client of [honest, ...greedy]) client.destroy()
})
