import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { type Agent, credential, openAgentFixture, readChallenge } from './agent-fixture.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const SESSIONS = '/v1/agent/sessions'
const ROUNDS = 6
/** Calls of a session in a minute (docs/payments.md). */
const LIMIT = 200

/** Buys a session of ten calls, and gives what pays for each. */
async function buy(agent: Agent): Promise<string> {
  const challenge = readChallenge(await agent.send({ path: SESSIONS }))
  const headers = { authorization: credential(challenge, agent.grant({ maxCents: 50 })) }
  return String(valueAt((await agent.send({ path: SESSIONS, headers })).json, 'authorization'))
}

async function left(agent: Agent, authorization: string): Promise<unknown> {
  const reply = await agent.send({ method: 'GET', path: SESSIONS, headers: { authorization } })
  return valueAt(reply.json, 'calls_remaining')
}

/** Sends a paid call and leaves as soon as the provider was asked; gives the reply of one that was refused before. */
async function leave(agent: Agent, authorization: string, body: object): Promise<Reply | undefined> {
  const calls = agent.calls()
  const leaving = new AbortController()
  const sent = agent.send({ body: { ...body }, headers: { authorization }, signal: leaving.signal })
  const asked = agentFixture.fixture.provider.until(() => agent.calls() > calls).then(() => undefined)
  const reply = await Promise.race([sent, asked])
  leaving.abort()
  await sent
  await agentFixture.fixture.provider.until(() => agent.scenario.seen().every(({ ended }) => ended !== 'open'))
  return reply
}

for (const stream of [false, true]) {
  const kind = stream ? 'a stream' : 'JSON'

  test(`leaving: of a challenge two calls are given back, and the third counts as delivered, ${kind}`, async (t) => {
    const agent = agentFixture.agent({ kind: 'answer', before: { until: new Promise(() => {}) } })
    const body = ask('left again and again', { stream })
    const challenge = await agent.ask(body)
    const authorization = credential(challenge, agent.grant())
    for (let round = 1; round <= 2; round++) {
      t.is(await leave(agent, authorization, body), undefined)
      await eventually(() => agent.books(challenge).heldCents === 50, 'nothing is taken')
      t.is(agent.books(challenge).capturedCents, 0)
    }
    t.is(await leave(agent, authorization, body), undefined)
    await eventually(() => agent.books(challenge).capturedCents === 50, 'it counts as delivered')
    for (let round = 4; round <= ROUNDS; round++) {
      const refused = await leave(agent, authorization, body)
      t.is(refused?.status, 402)
      t.true(String(valueAt(refused?.json, 'type')).endsWith('/invalid-challenge'))
    }
    t.is(agent.calls(), 3)
  })

  test(`leaving: of a session two calls are given back, and further ones are used up, ${kind}`, async (t) => {
    const agent = agentFixture.agent({ kind: 'answer', before: { until: new Promise(() => {}) } })
    const authorization = await buy(agent)
    for (let round = 1; round <= ROUNDS; round++) {
      t.is(await leave(agent, authorization, ask(`round ${round}`, { stream })), undefined)
      const expected = Math.min(10, 12 - round)
      await eventually(async () => (await left(agent, authorization)) === expected, `${expected} are left`)
    }
    t.is(agent.calls(), ROUNDS)
  })
}

test('leaving: a client that leaves before any provider was asked is not counted', async (t) => {
  const agent = agentFixture.agent()
  const authorization = await buy(agent)
  for (let round = 1; round <= ROUNDS; round++) {
    const refused = await agent.send({ body: ask('', { max_tokens: 0 }), headers: { authorization } })
    t.is(refused.status, 400)
  }
  t.is(await left(agent, authorization), 10)
})

test('leaving: a stored answer to an earlier call of a session does not use up a call', async (t) => {
  const agent = agentFixture.agent()
  const authorization = await buy(agent)
  for (const stream of [false, true, false]) {
    const reply = await agent.send({ body: ask('the same again', { stream }), headers: { authorization } })
    t.is(reply.status, 200)
  }
  t.is(agent.calls(), 1)
  t.is(await left(agent, authorization), 9)
  const other = await buy(agent)
  t.is((await agent.send({ body: ask('the same again'), headers: { authorization: other } })).status, 200)
  t.is(agent.calls(), 2, 'another session has answers of its own')
  t.is(await left(agent, other), 9)
})

test('leaving: of calls at once that share an answer each is used up', async (t) => {
  const agent = agentFixture.agent()
  const authorization = await buy(agent)
  const request = { body: ask('at once'), headers: { authorization } }
  const replies = await Promise.all([agent.send(request), agent.send(request), agent.send(request)])
  const hits = replies.filter(({ headers }) => headers['x-svc-cache'] === 'hit').length
  t.is(await left(agent, authorization), 7 + hits)
})

test('leaving: the calls of a session have a limit by the minute', async (t) => {
  const agent = agentFixture.agent()
  const authorization = await buy(agent)
  let reply: Reply | undefined
  let accepted = -1
  // The limit renews meanwhile: within a minute by as many again.
  for (; accepted < 2 * LIMIT && reply?.status !== 429; accepted++)
    reply = await agent.send({ body: 'no JSON', headers: { authorization } })
  t.is(reply?.status, 429)
  t.true(accepted >= LIMIT, `${accepted} accepted`)
  t.truthy(reply?.headers['retry-after'])
})
