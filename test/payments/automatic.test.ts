import test from 'ava'
import { ask } from '../support/http-client.ts'
import { openAgentFixture, receiptOf } from './agent-fixture.ts'

const agentFixture = await openAgentFixture({ SVC_MPP_SETTLEMENT: 'automatic' })
test.after.always(agentFixture.close)

for (const body of [ask('hello'), ask('hello', { stream: true })])
  test(`automatic settlement: an answer that failed after the charge is owed, and not charged again (${body.stream ? 'stream' : 'json'})`, async (t) => {
    const agent = agentFixture.agent((_request, nth) => (nth <= 3 ? { kind: 'error', status: 500 } : undefined))
    const challenge = await agent.ask(body)
    const token = agent.grant()
    const failed = await agent.pay(body, challenge, token)
    t.is(failed.status, 502)
    t.is(failed.headers['www-authenticate'], undefined)
    t.is(receiptOf(failed), undefined)
    const books = { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] }
    t.deepEqual(agent.books(challenge), books)
    t.is((await agent.pay(body, challenge, agent.grant())).status, 402)
    const reply = await agent.pay(body, challenge, token)
    t.is(reply.status, 200, reply.text)
    t.truthy(receiptOf(reply))
    t.deepEqual(agent.books(challenge), books)
    t.is((await agent.pay(body, challenge, token)).status, 402)
  })

test('automatic settlement: a charge whose answer is lost is found again by the same credential', async (t) => {
  const agent = agentFixture.agent()
  const body = ask('hello')
  const challenge = await agent.ask(body)
  const token = agent.grant()
  let isDown = true
  agent.trouble(challenge, () => (isDown ? { kind: 'lose-after' } : undefined))
  const lost = await agent.pay(body, challenge, token)
  t.is(lost.status, 503)
  t.is(lost.headers['www-authenticate'], undefined)
  t.is(agent.books(challenge).capturedCents, 50)
  isDown = false
  t.is((await agent.pay(body, challenge, token)).status, 200)
  t.deepEqual(agent.books(challenge), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
})

test('automatic settlement: a declined token charges nothing', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(ask('hello'))
  t.is((await agent.pay(ask('hello'), challenge, agent.grant({ card: 'declined' }))).status, 402)
  t.is(agent.books(challenge).capturedCents, 0)
  t.is(agent.calls(), 0)
})
