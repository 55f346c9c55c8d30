import test from 'ava'
import { ask, type Reply } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { type Agent, openAgentFixture, readChallenge, receiptOf } from './agent-fixture.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const PATH = '/v1/agent/sessions'
const BODY = ask('what is the toll')

/** Buys a session. */
async function buy(agent: Agent, body?: JsonObject): Promise<Reply> {
  const options = body === undefined ? { path: PATH } : { path: PATH, body }
  const challenge = readChallenge(await agent.send(options))
  const cents = Number(JSON.parse(Buffer.from(challenge.request, 'base64url').toString()).amount)
  const headers = { authorization: credentialOf(challenge, agent.grant({ maxCents: cents })) }
  return agent.send({ ...options, headers })
}

function credentialOf(challenge: object, token: string): string {
  return `Payment ${Buffer.from(JSON.stringify({ challenge, payload: { spt: token } })).toString('base64url')}`
}

const use = (agent: Agent, session: Reply, body = BODY) =>
  agent.send({ body, headers: { authorization: String(valueAt(session.json, 'authorization')) } })

async function left(agent: Agent, session: Reply): Promise<unknown> {
  const headers = { authorization: String(valueAt(session.json, 'authorization')) }
  return valueAt((await agent.send({ method: 'GET', path: PATH, headers })).json, 'calls_remaining')
}

test('sessions: ten calls are bought with one charge, and pay for ten answers', async (t) => {
  const agent = agentFixture.agent()
  const session = await buy(agent)
  t.is(session.status, 201, session.text)
  t.like(session.json, { object: 'session', calls_total: 10, calls_remaining: 10, price_usd_per_call: 0.05 })
  t.is(session.headers['cache-control'], 'private')
  const reference = receiptOf(session)?.reference
  t.like(agentFixture.stripe.world.objects.get('payment_intent', String(reference)), {
    amount: 50,
    status: 'succeeded',
  })
  for (let i = 1; i <= 10; i++) {
    const reply = await use(agent, session, ask(`call ${i}`, { stream: i % 2 === 0 }))
    t.is(reply.status, 200, reply.text)
    t.like(receiptOf(reply), { reference, externalId: valueAt(session.json, 'id'), status: 'success' })
    t.is(await left(agent, session), 10 - i)
  }
  const over = await use(agent, session)
  t.is(over.status, 402)
  t.true(String(valueAt(over.json, 'type')).endsWith('/invalid-challenge'))
  t.truthy(readChallenge(over).id)
  t.is(agent.calls(), 10)
})

test('sessions: of many calls at once as many are served as were paid for', async (t) => {
  const all = Promise.withResolvers<void>()
  const agent = agentFixture.agent({ kind: 'answer', before: { until: all.promise } })
  const session = await buy(agent, { calls: 12 })
  t.is(valueAt(session.json, 'calls_total'), 12)
  t.is(agentFixture.stripe.world.objects.get('payment_intent', String(receiptOf(session)?.reference)).amount, 60)
  // Ten may run at once without a stream.
  const crowd = Array.from({ length: 30 }, (_, i) => use(agent, session, ask(`crowd ${i}`, { stream: i >= 10 })))
  await agentFixture.fixture.provider.until(() => agent.calls() === 12)
  all.resolve()
  const replies = await Promise.all(crowd)
  t.is(replies.filter(({ status }) => status === 200).length, 12)
  t.is(replies.filter(({ status }) => status === 402).length, 18)
  t.is(agent.calls(), 12)
  t.is(await left(agent, session), 0)
})

test('sessions: a call whose answer failed is given back', async (t) => {
  const agent = agentFixture.agent((_request, nth) => (nth <= 3 ? { kind: 'error', status: 500 } : undefined))
  const session = await buy(agent)
  const failed = await use(agent, session)
  t.is(failed.status, 502)
  t.is(failed.headers['www-authenticate'], undefined)
  t.is(await left(agent, session), 10)
  t.is((await use(agent, session)).status, 200)
  t.is(await left(agent, session), 9)
})

test('sessions: a call covers a tenth of a call paid by itself', async (t) => {
  const agent = agentFixture.agent()
  const session = await buy(agent)
  const reply = await use(agent, session, ask('x', { max_tokens: 10_000 }))
  t.is(reply.status, 400)
  t.like(valueAt(reply.json, 'error'), { type: 'cost_limit_per_request', limit: 0.05 })
  t.is(await left(agent, session), 10)
})

test('sessions: a credential that is altered or unknown opens nothing', async (t) => {
  const agent = agentFixture.agent()
  const session = await buy(agent)
  const authorization = String(valueAt(session.json, 'authorization'))
  const { challenge, payload } = JSON.parse(Buffer.from(authorization.slice(8), 'base64url').toString())
  const encode = (value: object) => `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const forged = [
    encode({ challenge: { ...challenge, expires: '2036-01-01T00:00:00.000Z' }, payload }),
    encode({ challenge: { ...challenge, id: 'A'.repeat(43) }, payload }),
    encode({ challenge, payload: { ...payload, session_token: `sst_${'A'.repeat(43)}` } }),
  ]
  for (const wrong of forged) {
    const reply = await agent.send({ body: BODY, headers: { authorization: wrong } })
    t.is(reply.status, 402)
    t.true(String(valueAt(reply.json, 'type')).endsWith('/invalid-challenge'))
    t.is((await agent.send({ method: 'GET', path: PATH, headers: { authorization: wrong } })).status, 404)
  }
  t.is(agent.calls(), 0)
  // Nor does it buy another session.
  t.is((await agent.send({ path: PATH, headers: { authorization } })).status, 402)
})

test('sessions: an impossible purchase is refused before its payment', async (t) => {
  const agent = agentFixture.agent()
  for (const body of ['{', '[]', { calls: 9 }, { calls: 1001 }, { calls: 10.5 }, { calls: '10' }, { call: 10 }]) {
    const reply = await agent.send({ path: PATH, body })
    t.is(reply.status, 400, reply.text)
    t.is(reply.headers['www-authenticate'], undefined)
  }
})

test('sessions: a declined token opens none, and a challenge opens one only', async (t) => {
  const agent = agentFixture.agent()
  const challenge = readChallenge(await agent.send({ path: PATH }))
  const pay = (card: 'good' | 'declined', on: object) =>
    agent.send({ path: PATH, headers: { authorization: credentialOf(on, agent.grant({ card })) } })
  t.is((await pay('declined', challenge)).status, 402)
  const fresh = readChallenge(await agent.send({ path: PATH }))
  t.is((await pay('good', fresh)).status, 201)
  t.is((await pay('good', fresh)).status, 402)
})

test('sessions: a challenge of one route pays for nothing on the other', async (t) => {
  const agent = agentFixture.agent()
  const ofSession = readChallenge(await agent.send({ path: PATH }))
  const ofCall = readChallenge(await agent.send())
  const first = await agent.send({ body: BODY, headers: { authorization: credentialOf(ofSession, agent.grant()) } })
  const second = await agent.send({ path: PATH, headers: { authorization: credentialOf(ofCall, agent.grant()) } })
  for (const reply of [first, second]) t.true(String(valueAt(reply.json, 'type')).endsWith('/invalid-challenge'))
  t.is(agent.books(ofSession).intents + agent.books(ofCall).intents, 0)
})

test.after('sessions: no token of a session is in the log', (t) => {
  t.false(agentFixture.fixture.gateway.log().includes('sst_'))
})
