import test, { type ExecutionContext } from 'ava'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { type Agent, credential, openAgentFixture, readChallenge, receiptOf } from './agent-fixture.ts'

const BODY = ask('what is the toll')
const SESSIONS = '/v1/agent/sessions'
const SUBMITS_A_MINUTE = 200
const MINUTE_MS = 60_000
const AT_ONCE = 65
const MOST_TRIED = 40 * AT_ONCE

/** Counts how many more a limit by the minute has let through since then, of which each has its share of the minute. */
function renewedSince(begunAtMs: number, perMinute: number): number {
  return Math.ceil(((performance.now() - begunAtMs) / MINUTE_MS) * perMinute)
}

/** Requests without paying until the gateway refuses, and checks the number of challenges. */
async function exhaust(t: ExecutionContext, agent: Agent, { left, perMinute }: { left: number; perMinute: number }) {
  const begunAtMs = performance.now()
  let asked = 0
  while (asked < MOST_TRIED && (await agent.send({ body: BODY })).status !== 429) asked++
  t.true(asked >= left && asked <= perMinute + renewedSince(begunAtMs, perMinute), `${asked}`)
}

test('limits: challenges per address are limited, any payer may pay one, and requests alone cost nothing', async (t) => {
  await using agentFixture = await openAgentFixture({}, { challenges_per_minute: { per_address: 12, overall: 0 } })
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant({ maxCents: 5000 })
  const forSession = readChallenge(await agent.send({ path: SESSIONS }))
  await exhaust(t, agent, { left: 10, perMinute: 12 })
  const refused = await agent.send({ body: BODY })
  t.is(refused.status, 429)
  t.is(valueAt(refused.json, 'error.type'), 'rate_limit_error')
  t.true(Number(refused.headers['retry-after']) >= 1)
  t.is(refused.headers['www-authenticate'], undefined)
  // No other way of having work done for nothing.
  const forged = { authorization: credential({ ...challenge, id: 'A'.repeat(43) }, token) }
  const others = [
    await agent.send({ body: BODY, headers: forged }),
    await agent.send({ body: BODY, headers: { authorization: 'Payment x' } }),
    await agent.send({ path: SESSIONS }),
    await agent.send({ path: SESSIONS, method: 'GET', headers: forged }),
    await agent.send({ path: '/v1/agent/quote', body: BODY }),
    await agent.send({ path: '/v1/agent/ledger', method: 'GET' }),
  ]
  t.deepEqual(
    others.map(({ status }) => status),
    others.map(() => 429),
  )
  t.false(agentFixture.stripe.seen.some(({ method }) => method === 'POST'))
  const paid = await agent.pay(BODY, challenge, token)
  t.is(paid.status, 200, paid.text)
  t.truthy(receiptOf(paid))
  // A challenge that is used up has a fresh one as its answer, which counts as well.
  const again = await agent.pay(BODY, challenge, token)
  t.is(again.status, 429)
  t.is(again.headers['www-authenticate'], undefined)
  const headers = { authorization: credential(forSession, token) }
  const session = await agent.send({ path: SESSIONS, headers })
  t.is(session.status, 201, session.text)
  const authorization = String(valueAt(session.json, 'authorization'))
  for (let i = 0; i < 5; i++)
    t.is((await agent.send({ body: ask(`call ${i}`), headers: { authorization } })).status, 200)
  t.is(agent.calls(), 6)
})

test('limits: all addresses together have only so many challenges', async (t) => {
  await using agentFixture = await openAgentFixture({}, { challenges_per_minute: { per_address: 0, overall: 8 } })
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  await exhaust(t, agent, { left: 7, perMinute: 8 })
  t.is((await agent.pay(BODY, challenge, agent.grant())).status, 200)
})

test('limits: a challenge can be presented only so often, whichever tokens it is tried with', async (t) => {
  await using agentFixture = await openAgentFixture()
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const begunAtMs = performance.now()
  const tried: Reply[] = []
  while (tried.length < MOST_TRIED && !tried.some(({ status }) => status === 429))
    tried.push(
      ...(await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => agent.pay(BODY, challenge, `spt_guess${tried.length + i}`)),
      )),
    )
  const limited = tried.filter(({ status }) => status === 429)
  const passed = tried.length - limited.length
  const renewed = renewedSince(begunAtMs, SUBMITS_A_MINUTE)
  t.true(passed >= SUBMITS_A_MINUTE && passed <= SUBMITS_A_MINUTE + renewed, `${passed} of ${tried.length}`)
  t.true(limited.length > 0)
  t.deepEqual(
    tried.filter(({ status }) => status !== 429 && status !== 402).map(({ status, text }) => `${status} ${text}`),
    [],
  )
  // One token was presented to Stripe; the others were not its.
  t.is(agentFixture.stripe.seen.filter(({ path, method }) => method === 'POST' && path.endsWith('intents')).length, 1)
  t.like(agent.books(challenge), { capturedCents: 0, heldCents: 0 })
})
