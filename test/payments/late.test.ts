import test from 'ava'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'
import { credential, openAgentFixture, readChallenge } from './agent-fixture.ts'

const NEVER = new Promise<void>(() => {})
const ANSWER: Script = { kind: 'answer' }

const IMPATIENT = { providers: { timeouts: { first_byte: '1s' } } }
const agentFixture = await openAgentFixture({}, {}, IMPATIENT)
test.after.always(agentFixture.close)

test('late: of calls that outlive the provider’s time-out two are free, and no other is made or charged', async (t) => {
  const agent = agentFixture.agent({ kind: 'answer', before: { until: NEVER } })
  const body = ask('takes long')
  const challenge = await agent.ask(body)
  const authorization = credential(challenge, agent.grant())
  const statuses: number[] = []
  for (let round = 0; round < 5; round++) statuses.push((await agent.send({ body, headers: { authorization } })).status)
  t.deepEqual(statuses, [502, 502, 400, 400, 400])
  t.is(agent.calls(), 2)
  t.is(agent.books(challenge).capturedCents, 0)
})

test('late: a call that is late once is answered and charged when it is sent again', async (t) => {
  const agent = agentFixture.agent((_, nth) => (nth === 1 ? { kind: 'answer', before: { until: NEVER } } : ANSWER))
  const body = ask('late once')
  const challenge = await agent.ask(body)
  const authorization = credential(challenge, agent.grant())
  t.is((await agent.send({ body, headers: { authorization } })).status, 502)
  t.is((await agent.send({ body, headers: { authorization } })).status, 200)
  t.is(agent.books(challenge).capturedCents, 50)
})

test('late: of a session further calls are refused without being used up, and a stream is answered', async (t) => {
  const agent = agentFixture.agent((_, nth) => (nth <= 2 ? { kind: 'answer', before: { until: NEVER } } : ANSWER))
  const path = '/v1/agent/sessions'
  const challenge = readChallenge(await agent.send({ path }))
  const paying = { authorization: credential(challenge, agent.grant({ maxCents: 50 })) }
  const authorization = String(valueAt((await agent.send({ path, headers: paying })).json, 'authorization'))
  const statuses: number[] = []
  for (let round = 0; round < 4; round++)
    statuses.push((await agent.send({ body: ask(`round ${round}`), headers: { authorization } })).status)
  t.deepEqual(statuses, [502, 502, 400, 400])
  t.is(agent.calls(), 2)
  t.is((await agent.send({ body: ask('again', { stream: true }), headers: { authorization } })).status, 200)
  const standing = await agent.send({ method: 'GET', path, headers: { authorization } })
  t.is(valueAt(standing.json, 'calls_remaining'), 9)
})

test('late: of a session ten calls without a stream may run at once, so that no more are late together', async (t) => {
  const agent = agentFixture.agent({ kind: 'answer', before: { until: NEVER } })
  const path = '/v1/agent/sessions'
  const buying = { path, body: { calls: 20 } }
  const challenge = readChallenge(await agent.send(buying))
  const paying = { authorization: credential(challenge, agent.grant({ maxCents: 100 })) }
  const authorization = String(valueAt((await agent.send({ ...buying, headers: paying })).json, 'authorization'))
  const sent = Array.from({ length: 20 }, (_, nth) =>
    agent.send({ body: ask(`at once ${nth}`), headers: { authorization } }),
  )
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  t.deepEqual(statuses.toSorted(), [...Array(10).fill(429), ...Array(10).fill(502)])
  t.is(agent.calls(), 10)
  const standing = await agent.send({ method: 'GET', path, headers: { authorization } })
  t.is(valueAt(standing.json, 'calls_remaining'), 20)
})

test('late: money that was taken before the call is owed an answer', async (t) => {
  await using automatic = await openAgentFixture({ SVC_MPP_SETTLEMENT: 'automatic' }, {}, IMPATIENT)
  const agent = automatic.agent((_, nth) => (nth <= 3 ? { kind: 'answer', before: { until: NEVER } } : ANSWER))
  const body = ask('taken at once')
  const challenge = await agent.ask(body)
  const authorization = credential(challenge, agent.grant())
  const statuses: number[] = []
  for (let round = 0; round < 4; round++) statuses.push((await agent.send({ body, headers: { authorization } })).status)
  t.deepEqual(statuses, [502, 502, 502, 200])
  t.is(agent.books(challenge).capturedCents, 50)
})
