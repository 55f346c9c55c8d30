import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { parsePublicKeys } from '../../src/journal/receipts/public-key.ts'
import { verifyReceipt } from '../../src/journal/receipts/verify.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { type Agent, credential, openAgentFixture, readChallenge, receiptOf } from './agent-fixture.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const SESSIONS = '/v1/agent/sessions'
const BODY = ask('what is the toll')

const get = (agent: Agent, path: string, authorization?: string) =>
  agent.send({ method: 'GET', path, headers: { authorization } })

const pathOf = ({ headers }: Reply) => `/v1/receipts/${headers['x-svc-receipt']}`

/** Waits for the receipt of a paid reply; asserts that it is genuine and of this very reply. */
async function receiptFor(
  t: ExecutionContext,
  agent: Agent,
  { paid, authorization }: { paid: Reply; authorization: string },
) {
  let found = await get(agent, pathOf(paid), authorization)
  await eventually(async () => {
    found = await get(agent, pathOf(paid), authorization)
    return found.status === 200
  }, 'the receipt is there')
  t.is(found.headers['cache-control'], 'private')
  const keys = parsePublicKeys((await get(agent, '/.well-known/turnpike-keys')).text)
  t.true(verifyReceipt(found.text, keys).isValid)
  // No altered receipt proves a higher payment.
  const more = found.text.replace(/"amount_cents":\d+/, '"amount_cents":1')
  t.not(more, found.text)
  t.false(verifyReceipt(more, keys).isValid)
  t.is(valueAt(found.json, 'reply_sha256'), createHash('sha256').update(paid.text).digest('hex'))
  return found.json
}

for (const stream of [false, true])
  test(`receipts: the payer alone has the canonical receipt, with the settled amount (${stream ? 'stream' : 'json'})`, async (t) => {
    const agent = agentFixture.agent()
    const body = { ...BODY, stream }
    const challenge = await agent.ask(body)
    const token = agent.grant()
    const authorization = credential(challenge, token)
    const paid = await agent.pay(body, challenge, token)
    t.is(paid.status, 200)
    const receipt = await receiptFor(t, agent, { paid, authorization })
    t.like(receipt, { route: 'agent', status: 200, outcome: 'complete', stream })
    t.deepEqual(valueAt(receipt, 'settlement'), {
      method: 'stripe',
      challenge_id: challenge.id,
      reference: receiptOf(paid)?.reference,
      amount_cents: 50,
      currency: 'usd',
    })
    // One on its way to the database is found, and listed a moment later.
    const firstListed = async () => valueAt((await get(agent, '/v1/receipts', authorization)).json, 'data.0.id')
    await eventually(async () => (await firstListed()) === valueAt(receipt, 'id'), 'the receipt is listed')
    // A token that did not pay for it, a challenge that is not ours, and a caller with a key find nothing.
    const other = credential(await agent.ask(body), agent.grant())
    t.is((await get(agent, pathOf(paid), other)).status, 404)
    t.deepEqual(valueAt((await get(agent, '/v1/receipts', other)).json, 'data'), [])
    t.is((await get(agent, pathOf(paid), credential({ ...challenge, id: 'A'.repeat(43) }, token))).status, 401)
    t.is((await get(agent, pathOf(paid), 'Bearer key')).status, 404)
    t.is((await get(agent, pathOf(paid))).status, 401)
  })

test('receipts: the receipt of a failed try has no settlement, that of the paid one has it', async (t) => {
  const agent = agentFixture.agent((_request, nth) => (nth <= 3 ? { kind: 'error', status: 500 } : undefined))
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  const authorization = credential(challenge, token)
  t.is((await agent.pay(BODY, challenge, token)).status, 502)
  const paid = await agent.pay(BODY, challenge, token)
  await receiptFor(t, agent, { paid, authorization })
  const list = async () => valueAt((await get(agent, '/v1/receipts', authorization)).json, 'data') as object[]
  await eventually(async () => (await list()).length === 2, 'both are there')
  const settled = (await list()).map((each) => [valueAt(each, 'status'), valueAt(each, 'settlement.amount_cents')])
  t.deepEqual(settled, [
    [502, undefined],
    [200, 50],
  ])
})

test('receipts: a call of a session has one, which its session’s credential opens', async (t) => {
  const agent = agentFixture.agent()
  const challenge = readChallenge(await agent.send({ path: SESSIONS }))
  const funding = credential(challenge, agent.grant())
  const session = await agent.send({ path: SESSIONS, headers: { authorization: funding } })
  const authorization = String(valueAt(session.json, 'authorization'))
  const paid = await agent.send({ body: BODY, headers: { authorization } })
  const receipt = await receiptFor(t, agent, { paid, authorization })
  t.like(valueAt(receipt, 'settlement'), { challenge_id: challenge.id, amount_cents: 5 })
  t.is(valueAt(receipt, 'settlement.reference'), receiptOf(session)?.reference)
  t.is((await get(agent, pathOf(paid), funding)).status, 401)
})
