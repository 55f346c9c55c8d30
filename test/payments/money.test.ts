import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import type { StripeObject } from '../support/stripe/objects.ts'
import {
  type Agent,
  credential,
  endingAt,
  openAgentFixture,
  type ReadChallenge,
  readChallenge,
  receiptOf,
} from './agent-fixture.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const BODY = ask('what is the toll')
const STREAM = ask('what is the toll', { stream: true })
const PROBLEMS = 'https://paymentauth.org/problems/'
const NOTHING = { capturedCents: 0, heldCents: 0 }

/** Asserts that nothing was charged and a fresh challenge explains the refusal. */
function assertRefused(t: ExecutionContext, reply: Reply, problem: string, former?: ReadChallenge): ReadChallenge {
  t.is(reply.status, 402, reply.text)
  t.is(valueAt(reply.json, 'type'), `${PROBLEMS}${problem}`)
  t.is(valueAt(reply.json, 'status'), 402)
  t.is(reply.headers['content-type'], 'application/problem+json')
  t.is(reply.headers['cache-control'], 'no-store')
  t.is(reply.headers['payment-receipt'], undefined)
  const fresh = readChallenge(reply)
  t.not(fresh.id, former?.id)
  return fresh
}

/** Asserts a reply without a challenge, so that no payer pays twice: unknown or not wanted yet. */
function assertOwed(t: ExecutionContext, reply: Reply, status: number): void {
  t.is(reply.status, status, reply.text)
  t.is(reply.headers['www-authenticate'], undefined)
  t.is(reply.headers['payment-receipt'], undefined)
}

/** Asserts one answer and one charge. */
function assertPaid(t: ExecutionContext, agent: Agent, challenge: ReadChallenge, reply: Reply): void {
  t.is(reply.status, 200, reply.text)
  t.true(reply.endedCleanly)
  const receipt = receiptOf(reply)
  t.like(receipt, { method: 'stripe', status: 'success' })
  t.true(Math.abs(Date.parse(String(receipt?.timestamp)) - Date.now()) < 60_000)
  t.is(reply.headers['cache-control'], 'private')
  t.deepEqual(agent.books(challenge), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
  const [intent] = agentFixture.stripe.world.objects.all('payment_intent').filter(({ id }) => id === receipt?.reference)
  t.like(intent?.metadata, { mpp_challenge_id: challenge.id, machine_payment: 'true' })
}

for (const [kind, body] of [
  ['json', BODY],
  ['stream', STREAM],
] as const) {
  test(`money: a call is asked for, paid and answered (${kind})`, async (t) => {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(body)
    t.is(agent.calls(), 0)
    const reply = await agent.pay(body, challenge, agent.grant())
    assertPaid(t, agent, challenge, reply)
    t.is(agent.calls(), 1)
    t.true(kind === 'json' ? valueAt(reply.json, 'type') === 'message' : reply.text.includes('event: message_stop'))
  })

  test(`money: upstream 5xx charges nothing, and the same credential resumes (${kind})`, async (t) => {
    const agent = agentFixture.agent((_request, nth) => (nth <= 3 ? { kind: 'error', status: 500 } : undefined))
    const challenge = await agent.ask(body)
    const token = agent.grant()
    const failed = await agent.pay(body, challenge, token)
    assertOwed(t, failed, 502)
    t.like(agent.books(challenge), { intents: 1, capturedCents: 0, heldCents: 50 })
    assertPaid(t, agent, challenge, await agent.pay(body, challenge, token))
  })

  test(`money: a client that leaves before the answer is not charged, and may come back (${kind})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const agent = agentFixture.agent((_request, nth) =>
      nth === 1 ? { kind: 'answer', before: { until: gate.promise } } : undefined,
    )
    const challenge = await agent.ask(body)
    const token = agent.grant()
    const leaving = new AbortController()
    const left = agent.pay(body, challenge, token, { signal: leaving.signal })
    await agentFixture.fixture.provider.until(() => agent.calls() === 1)
    leaving.abort()
    t.is((await left).status, 0)
    // An answer that came before the gateway knew that its client had left would be delivered, and charged.
    await agentFixture.fixture.provider.until(() => agent.scenario.seen().every(({ ended }) => ended !== 'open'))
    gate.resolve()
    t.like(agent.books(challenge), { capturedCents: 0, heldCents: 50 })
    assertPaid(t, agent, challenge, await agent.pay(body, challenge, token))
  })
}

/** Resolves when the gateway has read the end of a connection that was closed before: it reads in the order of arrival. */
async function untilNoticed(): Promise<void> {
  await send(agentFixture.url, { method: 'GET', path: '/health' })
}

test('money: a client that leaves while the money is being held is not charged, and may come back', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  const gate = Promise.withResolvers<void>()
  agent.trouble(challenge, (_request, nth) => (nth === 1 ? { kind: 'wait', until: gate.promise } : undefined))
  const leaving = new AbortController()
  const left = agent.pay(BODY, challenge, token, { signal: leaving.signal })
  await eventually(
    () => agentFixture.stripe.seen.some(({ idempotencyKey }) => idempotencyKey === `mpp_${challenge.id}`),
    'asked',
  )
  leaving.abort()
  t.is((await left).status, 0)
  await untilNoticed()
  gate.resolve()
  await eventually(() => agent.books(challenge).heldCents === 50, 'the money is held')
  const reply = await agent.pay(BODY, challenge, token)
  assertPaid(t, agent, challenge, reply)
  t.is(agent.calls(), 1)
})

test('money: an upstream that breaks off before its first event charges nothing', async (t) => {
  const agent = agentFixture.agent((_request, nth) => (nth === 1 ? { kind: 'sse', bytes: ': nothing\n\n' } : undefined))
  const challenge = await agent.ask(STREAM)
  const token = agent.grant()
  assertOwed(t, await agent.pay(STREAM, challenge, token), 502)
  t.like(agent.books(challenge), { capturedCents: 0, heldCents: 50 })
  assertPaid(t, agent, challenge, await agent.pay(STREAM, challenge, token))
})

test('money: an error as the first event charges nothing', async (t) => {
  const bytes = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n'
  const agent = agentFixture.agent((_request, nth) => (nth === 1 ? { kind: 'sse', bytes } : undefined))
  const challenge = await agent.ask(STREAM)
  const token = agent.grant()
  assertOwed(t, await agent.pay(STREAM, challenge, token), 502)
  t.like(agent.books(challenge), { capturedCents: 0, heldCents: 50 })
  assertPaid(t, agent, challenge, await agent.pay(STREAM, challenge, token))
})

test('money: a stream that breaks after its first event is a charged call, and cannot be had again', async (t) => {
  const agent = agentFixture.agent({ kind: 'answer', writes: { sizes: 'events' }, cutAfterBytes: 700 })
  const challenge = await agent.ask(STREAM)
  const token = agent.grant()
  const reply = await agent.pay(STREAM, challenge, token)
  t.is(reply.status, 200)
  t.regex(reply.text, /event: error/)
  t.truthy(receiptOf(reply))
  t.like(agent.books(challenge), { intents: 1, capturedCents: 50 })
  assertRefused(t, await agent.pay(STREAM, challenge, token), 'invalid-challenge', challenge)
  t.like(agent.books(challenge), { intents: 1, capturedCents: 50 })
})

test('money: the receipt and headers of a stream are there before its first event ends', async (t) => {
  const gate = Promise.withResolvers<void>()
  const agent = agentFixture.agent({
    kind: 'answer',
    writes: { sizes: 'events', between: (done) => (done === 1 ? { until: gate.promise } : undefined) },
  })
  const challenge = await agent.ask(STREAM)
  const seen: string[] = []
  const reply = await agent.pay(STREAM, challenge, agent.grant(), {
    onHeaders: (status, headers) => {
      seen.push(`${status} ${headers['payment-receipt'] !== undefined} ${agent.books(challenge).capturedCents}`)
      gate.resolve()
    },
  })
  t.deepEqual(seen, ['200 true 50'])
  assertPaid(t, agent, challenge, reply)
})

test('money: the provider’s 4xx reaches the payer and is not charged', async (t) => {
  const agent = agentFixture.agent({ kind: 'error', status: 413, type: 'request_too_large' })
  const challenge = await agent.ask(BODY)
  assertOwed(t, await agent.pay(BODY, challenge, agent.grant()), 413)
  t.like(agent.books(challenge), { capturedCents: 0 })
})

test('money: a fault between operator and provider is not reported as the payer’s', async (t) => {
  for (const status of [401, 402, 403]) {
    const agent = agentFixture.agent({ kind: 'error', status })
    const challenge = await agent.ask(BODY)
    assertOwed(t, await agent.pay(BODY, challenge, agent.grant()), 502)
    t.like(agent.books(challenge), { capturedCents: 0 })
  }
})

test('money: a paid challenge is used up', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant({ maxCents: 5000 })
  assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, token))
  assertRefused(t, await agent.pay(BODY, challenge, token), 'invalid-challenge', challenge)
  assertRefused(t, await agent.pay(BODY, challenge, agent.grant()), 'invalid-challenge', challenge)
  t.like(agent.books(challenge), { intents: 1, capturedCents: 50 })
  t.is(agent.calls(), 1)
})

test('money: two tokens on one challenge: the first holds it', async (t) => {
  const agent = agentFixture.agent((_request, nth) => (nth <= 3 ? { kind: 'error', status: 500 } : undefined))
  const challenge = await agent.ask(BODY)
  const [first, second] = [agent.grant(), agent.grant()]
  assertOwed(t, await agent.pay(BODY, challenge, first), 502)
  assertRefused(t, await agent.pay(BODY, challenge, second), 'invalid-challenge', challenge)
  assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, first))
})

test('money: a challenge that is altered in any member is not ours', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  const other = await agent.ask(ask('another'))
  const request = Buffer.from(JSON.stringify({ amount: '1', currency: 'usd' })).toString('base64url')
  const changes = {
    id: 'A'.repeat(43),
    realm: 'evil.test',
    method: 'tempo',
    intent: 'session',
    request,
    expires: '2036-01-01T00:00:00.000Z',
    digest: other.digest,
    opaque: other.opaque,
  }
  const seen = agentFixture.stripe.seen.length
  for (const [name, value] of Object.entries(changes))
    assertRefused(t, await agent.pay(BODY, { ...challenge, [name]: value }, token), 'invalid-challenge')
  for (const name of ['expires', 'digest', 'opaque']) {
    const { [name as 'digest']: _, ...rest } = challenge
    const headers = { authorization: credential(rest, token) }
    assertRefused(t, await agent.send({ body: BODY, headers }), 'invalid-challenge')
  }
  t.false(agentFixture.stripe.seen.slice(seen).some(({ form }) => form.shared_payment_granted_token === token))
  t.deepEqual(agent.books(challenge).intents, 0)
  assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, token))
})

test('money: a challenge whose time is over pays for nothing, and nothing is asked of Stripe', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  const over = endingAt(challenge, Date.now() - 1)
  assertRefused(t, await agent.pay(BODY, over, token), 'invalid-challenge', challenge)
  t.is(agent.books(over).intents, 0)
  t.is(agent.calls(), 0)
  // The same with time left is good, so it is the time that was refused.
  const good = endingAt(challenge, Date.now() + 60_000)
  assertPaid(t, agent, good, await agent.pay(BODY, good, token))
})

for (const [kind, body] of [
  ['json', BODY],
  ['stream', STREAM],
] as const)
  test(`money: a client that leaves while the money is taken is owed the answer, and has it for that money (${kind})`, async (t) => {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(body)
    const token = agent.grant()
    const isCapture = ({ path }: { path: string }) => path.endsWith('/capture')
    const gate = Promise.withResolvers<void>()
    agent.trouble(challenge, (request) => (isCapture(request) ? { kind: 'wait', until: gate.promise } : undefined))
    const leaving = new AbortController()
    const before = agentFixture.stripe.seen.filter(isCapture).length
    const left = agent.pay(body, challenge, token, { signal: leaving.signal })
    const captureOf = () =>
      agentFixture.stripe.seen.slice(before).some((request) => request.idempotencyKey === `mpp_cap_${challenge.id}`)
    await eventually(captureOf, 'the money is being taken')
    leaving.abort()
    t.is((await left).status, 0)
    await untilNoticed()
    gate.resolve()
    await eventually(() => agent.books(challenge).capturedCents === 50, 'it is taken')
    assertPaid(t, agent, challenge, await agent.pay(body, challenge, token))
    assertRefused(t, await agent.pay(body, challenge, token), 'invalid-challenge', challenge)
  })

test('money: another body is refused, and the challenge stays good for its own', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  assertRefused(t, await agent.pay(ask('what is the tolL'), challenge, token), 'verification-failed', challenge)
  assertRefused(t, await agent.pay(`${JSON.stringify(BODY)} `, challenge, token), 'verification-failed', challenge)
  t.is(agent.books(challenge).intents, 0)
  t.is(agent.calls(), 0)
  assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, token))
})

test('money: a declined token charges nothing and burns the challenge', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const fresh = assertRefused(
    t,
    await agent.pay(BODY, challenge, agent.grant({ card: 'declined' })),
    'verification-failed',
    challenge,
  )
  t.like(agent.books(challenge), NOTHING)
  t.is(agent.calls(), 0)
  assertRefused(t, await agent.pay(BODY, challenge, agent.grant()), 'invalid-challenge')
  assertPaid(t, agent, fresh, await agent.pay(BODY, fresh, agent.grant()))
})

test('money: a token whose bank wants its owner charges nothing, and nothing stays open', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const reply = await agent.pay(BODY, challenge, agent.grant({ card: 'asks-owner' }))
  assertRefused(t, reply, 'verification-failed', challenge)
  t.deepEqual(agent.books(challenge).statuses, ['canceled'])
  t.is(agent.calls(), 0)
})

test('money: a token that is unknown, used up or over charges nothing', async (t) => {
  const agent = agentFixture.agent()
  for (const token of ['spt_unknown', agent.grant({ maxCents: 49 }), agent.grant({ expiresAtS: 1 })]) {
    const challenge = await agent.ask(BODY)
    assertRefused(t, await agent.pay(BODY, challenge, token), 'verification-failed', challenge)
    t.is(agent.books(challenge).intents, 0)
  }
  t.is(agent.calls(), 0)
})

test('money: a payment that is still being processed is neither served nor charged again', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const token = agent.grant({ card: 'slow' })
  assertOwed(t, await agent.pay(BODY, challenge, token), 503)
  assertOwed(t, await agent.pay(BODY, challenge, token), 503)
  t.like(agent.books(challenge), { intents: 1, ...NOTHING })
  t.is(agent.calls(), 0)
})

test('money: Stripe down is 503 without a challenge, and the same credential continues when it is back', async (t) => {
  for (const kind of ['lose-before', 'lose-after'] as const) {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(BODY)
    const token = agent.grant()
    let isDown = true
    agent.trouble(challenge, () => (isDown ? { kind } : undefined))
    assertOwed(t, await agent.pay(BODY, challenge, token), 503)
    t.is(agent.calls(), 0)
    isDown = false
    assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, token))
    t.is(agent.calls(), 1)
  }
})

for (const kind of ['lose-before', 'lose-after'] as const)
  test(`money: an answer of Stripe that is lost once changes nothing (${kind})`, async (t) => {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(BODY)
    agent.trouble(challenge, (_request, nth) => (nth % 2 === 1 ? { kind } : undefined))
    assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, agent.grant()))
    t.is(agent.calls(), 1)
  })

for (const kind of ['lose-before', 'lose-after'] as const)
  test(`money: a capture whose answer is lost for good is owed, and made up for (${kind})`, async (t) => {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(BODY)
    const token = agent.grant()
    let isDown = true
    agent.trouble(challenge, ({ path, method }) =>
      isDown && (path.endsWith('/capture') || method === 'GET') ? { kind } : undefined,
    )
    assertOwed(t, await agent.pay(BODY, challenge, token), 503)
    t.is(agent.books(challenge).capturedCents, kind === 'lose-after' ? 50 : 0)
    isDown = false
    assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, token))
  })

test('money: a capture that is refused gives no answer, charges nothing and holds nothing', async (t) => {
  for (const body of [BODY, STREAM]) {
    const agent = agentFixture.agent()
    const challenge = await agent.ask(body)
    let hold: StripeObject | undefined
    agent.trouble(challenge, ({ path }) => {
      if (!path.endsWith('/capture')) return undefined
      // The hold has run out at the bank.
      hold = agentFixture.stripe.world.objects.all('payment_intent').find(({ id }) => path.includes(`/${id}/`))
      if (hold !== undefined) hold.status = 'canceled'
      return undefined
    })
    const reply = await agent.pay(body, challenge, agent.grant())
    assertRefused(t, reply, 'verification-failed', challenge)
    t.is(hold?.status, 'canceled')
    t.like(agent.books(challenge), { intents: 1, ...NOTHING })
  }
})

test('money: after a capture that is refused, money that is still held is released', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  agent.trouble(challenge, ({ path }) => {
    const intent = agentFixture.stripe.world.objects
      .all('payment_intent')
      .find(({ id }) => path.endsWith(`/${id}/capture`))
    if (intent !== undefined) intent.refusesCapture = true
    return undefined
  })
  assertRefused(t, await agent.pay(BODY, challenge, agent.grant()), 'verification-failed', challenge)
  t.like(agent.books(challenge), { intents: 1, statuses: ['canceled'], ...NOTHING })
})

test('money: bodies are checked before anything is asked for', async (t) => {
  const agent = agentFixture.agent()
  const badBodies = [{ nope: 1 }, '{', '[]', ask('x', { max_tokens: 0 }), ask('x', { model: 'nobody/x' })]
  for (const body of badBodies) {
    const reply = await agent.send({ body })
    t.is(reply.status, 400, reply.text)
    t.is(reply.headers['www-authenticate'], undefined)
  }
  t.is((await agent.send({ body: BODY, headers: { 'content-type': 'text/plain' } })).status, 415)
})

test('money: a call that could cost more than its price covers is refused, with the limits that fit', async (t) => {
  const agent = agentFixture.agent()
  const reply = await agent.send({ body: ask('x', { max_tokens: 60_000 }) })
  t.is(reply.status, 400)
  t.like(valueAt(reply.json, 'error'), { type: 'cost_limit_per_request', limit: 0.5 })
  const most = Number(valueAt(reply.json, 'error.max_tokens'))
  t.true(most > 30_000 && most < 34_000, `${most}`)
  t.is((await agent.send({ body: ask('x', { max_tokens: most }) })).status, 402)
  t.is((await agent.send({ body: ask('x', { max_tokens: most + 1 }) })).status, 400)
})

test('money: searches are in the price, and work without a bound is refused, before anything is asked to be paid', async (t) => {
  const agent = agentFixture.agent()
  const searching = (max_uses?: number) => ({
    ...BODY,
    tools: [{ type: 'web_search_20250305', name: 'web_search', ...(max_uses !== undefined && { max_uses }) }],
  })
  for (const body of [searching(), searching(50), { ...BODY, mcp_servers: [{ type: 'url', url: 'x', name: 'x' }] }]) {
    const reply = await agent.send({ body })
    t.is(reply.status, 400, reply.text)
    t.is(valueAt(reply.json, 'error.type'), 'cost_limit_per_request')
    t.is(reply.headers['www-authenticate'], undefined)
  }
  const body = searching(1)
  const challenge = await agent.ask(body)
  assertPaid(t, agent, challenge, await agent.pay(body, challenge, agent.grant()))
  const quote = async (asked: JsonObject) =>
    (await agent.send({ path: '/v1/agent/quote', body: asked })).json as Record<string, number>
  const [plain, one, two] = [await quote(BODY), await quote(searching(1)), await quote(searching(2))]
  const added = Number(one.worst_case_provider_usd) - Number(plain.worst_case_provider_usd)
  // A fee of a cent, and 20,000 tokens of what is found at 3.75 USD a million.
  t.true(added > 0.085 && added < 0.1, `${added}`)
  t.true(Number(two.worst_case_provider_usd) - Number(one.worst_case_provider_usd) > added)
})

test('money: every model that a body names is in the price', async (t) => {
  const agent = agentFixture.agent()
  const body = (extra: JsonObject) => ask('x', { model: 'claude-haiku-4-5', max_tokens: 30_000, ...extra })
  t.is((await agent.send({ body: body({}) })).status, 402)
  for (const extra of [{ models: ['claude-opus-4-1'] }, { router: { fallback_model: 'claude-opus-4-1' } }]) {
    const reply = await agent.send({ body: body(extra) })
    t.is(reply.status, 400, reply.text)
    t.is(valueAt(reply.json, 'error.type'), 'cost_limit_per_request')
  }
  t.is((await agent.send({ body: body({ plugins: [{ id: 'web' }] }) })).status, 400)
})

test('money: a bare probe has a challenge, which pays for nothing else', async (t) => {
  const agent = agentFixture.agent()
  const challenge = assertRefused(t, await agent.send(), 'payment-required')
  t.is(agent.books(challenge).intents, 0)
  assertRefused(t, await agent.pay(BODY, challenge, agent.grant()), 'verification-failed', challenge)
  const headers = { authorization: credential(challenge, agent.grant()) }
  t.is((await agent.send({ headers })).status, 415)
})

test('money: credentials that cannot be read, and several, are refused without a charge', async (t) => {
  const agent = agentFixture.agent()
  const good = await agent.ask(BODY)
  const encoded = credential(good, 'spt_never_used').slice('Payment '.length)
  const print = (value: unknown) => `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const malformed = [
    'Payment',
    'Payment !',
    'Payment e30',
    'Payment W10',
    'payment e31',
    `Payment ${encoded}=`,
    `Payment ${encoded} ${encoded}`,
    `Payment ${Buffer.from('{"challenge":').toString('base64url')}`,
    print({ challenge: good }),
    print({ challenge: good, payload: { spt: 'tok_visa' } }),
    print({ challenge: good, payload: { spt: ['spt_1'] } }),
    print({ challenge: { ...good, request: { amount: '50' } }, payload: { spt: 'spt_1' } }),
    print({ challenge: { ...good, request: Buffer.from('50').toString('base64url') }, payload: { spt: 'spt_1' } }),
    print({ challenge: good.id, payload: { spt: 'spt_1' } }),
    `Payment ${'A'.repeat(9000)}`,
  ]
  for (const authorization of malformed)
    assertRefused(t, await agent.send({ body: BODY, headers: { authorization } }), 'malformed-credential')
  assertRefused(t, await agent.send({ body: BODY, headers: { authorization: 'Bearer k' } }), 'payment-required')
  const challenge = await agent.ask(BODY)
  const both = credential(challenge, agent.grant())
  const reply = await agent.send({ body: BODY, headers: { authorization: [both, both] } })
  t.is(reply.status, 400)
  t.is(agent.books(challenge).intents, 0)
})

test('money: of submits at the same time one is served; the others wait, and are refused as used', async (t) => {
  const gate = Promise.withResolvers<void>()
  const agent = agentFixture.agent({ kind: 'answer', before: { until: gate.promise } })
  const challenge = await agent.ask(BODY)
  const token = agent.grant()
  const submits = Array.from({ length: 40 }, () => agent.pay(BODY, challenge, token))
  await agentFixture.fixture.provider.until(() => agent.calls() === 1)
  gate.resolve()
  const replies = await Promise.all(submits)
  const [served, ...others] = replies.toSorted((a, b) => a.status - b.status)
  assertPaid(t, agent, challenge, served as Reply)
  t.is(others.length, 39)
  for (const other of others) assertRefused(t, other, 'invalid-challenge', challenge)
  t.is(agent.calls(), 1)
})

test('money: neither the payment’s credential nor its idempotency key reaches the provider', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const headers = { 'idempotency-key': 'mine' }
  assertPaid(t, agent, challenge, await agent.pay(BODY, challenge, agent.grant(), { headers }))
  const [seen] = agent.scenario.seen()
  t.is(seen?.headers.authorization, undefined)
  t.is(seen?.headers['idempotency-key'], undefined)
})

for (const [kind, body] of [
  ['json', BODY],
  ['stream', STREAM],
] as const)
  test(`money: with an Idempotency-Key the same credential has the same answer again (${kind})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const between = (done: number) => (done === 2 ? { until: gate.promise } : undefined)
    const agent = agentFixture.agent({ kind: 'answer', writes: { sizes: 'events', between } })
    const challenge = await agent.ask(body)
    const token = agent.grant({ maxCents: 5000 })
    const headers = { 'idempotency-key': 'order-1' }
    const first = agent.pay(body, challenge, token, { headers })
    const second = agent.pay(body, challenge, token, { headers })
    gate.resolve()
    const replies = [await first, await second, await agent.pay(body, challenge, token, { headers })]
    for (const reply of replies) {
      t.is(reply.status, 200, reply.text)
      t.is(withoutPings(reply.text), withoutPings(String(replies[0]?.text)))
      t.is(reply.headers['payment-receipt'], replies[0]?.headers['payment-receipt'])
      t.is(reply.headers['cache-control'], 'private')
      t.is(reply.headers['content-type'], replies[0]?.headers['content-type'])
    }
    t.is(replies.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length, 2)
    t.is(agent.calls(), 1)
    t.deepEqual(agent.books(challenge), { intents: 1, capturedCents: 50, heldCents: 0, statuses: ['succeeded'] })
    // Another key, token or body has no part in it.
    const other = { 'idempotency-key': 'order-2' }
    assertRefused(t, await agent.pay(body, challenge, token, { headers: other }), 'invalid-challenge')
    assertRefused(t, await agent.pay(body, challenge, agent.grant(), { headers }), 'invalid-challenge')
    assertRefused(t, await agent.pay(ask('another'), challenge, token, { headers }), 'verification-failed')
    assertRefused(t, await agent.pay(body, challenge, token), 'invalid-challenge')
  })

test('money: an Idempotency-Key that is too long is refused before anything is paid', async (t) => {
  const agent = agentFixture.agent()
  const challenge = await agent.ask(BODY)
  const headers = { 'idempotency-key': 'x'.repeat(256) }
  t.is((await agent.pay(BODY, challenge, agent.grant(), { headers })).status, 400)
  t.is(agent.books(challenge).intents, 0)
})

test.after('money: no token, credential or receipt is in the log', async (t) => {
  await eventually(() => agentFixture.fixture.gateway.log().includes('/v1/agent/messages'), 'the log has its lines')
  const log = agentFixture.fixture.gateway.log()
  for (const word of ['spt_', 'Payment ey', 'eyJ']) t.false(log.includes(word), word)
})

/** Removes the pings, which a stored reply does not have. */
function withoutPings(text: string): string {
  return text.replaceAll(/event: ping\ndata: *\{"type": ?"ping"\} *\n\n/g, '')
}
