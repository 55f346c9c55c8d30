import test, { type ExecutionContext } from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import { chat, streamed, streamedWithUsage } from '../support/chat-bodies.ts'
import { assembleCompletion, assertChatStream } from '../support/chat-chunks.ts'
import { logLineOf, sendChat } from '../support/door.ts'
import { ask, type Reply, type SendOptions } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { holdEvent } from '../support/provider/script.ts'
import { MODELS, openProviderFixture, type ProviderScenario } from '../support/provider-fixture.ts'
import { assertOwn, nextCaller } from '../support/second-caller.ts'

const fixture = await openProviderFixture({
  config: { models: { 'cached-pair': [MODELS.openai, MODELS.house] }, providers: { tries: 1 } },
  env: { SVC_PIPELINE: 'exact-cache' },
})
test.after.always(() => fixture.close())

type Body = JsonObject | string

/** Sends requests one after another; returns the cache result of each, and the replies. */
async function askEach(scenario: ProviderScenario, bodies: readonly Body[], options: Omit<SendOptions, 'body'> = {}) {
  const replies: Reply[] = []
  for (const body of bodies) replies.push(await sendChat(scenario, body, options))
  return { replies, states: replies.map(stateOf) }
}

/** Asserts that two bodies that differ are asked of the provider both, and that neither takes the other's place. */
async function assertApart(t: ExecutionContext, bodies: readonly [Body, Body]) {
  const scenario = fixture.scenario()
  const { states, replies } = await askEach(scenario, [...bodies, ...bodies])
  t.deepEqual(states, ['miss', 'miss', 'hit', 'hit'], replies.map(({ text }) => text).join())
  t.is(scenario.seen('house').length + scenario.seen('openai').length + scenario.seen('anthropic').length, 2)
}

const prompted = (t: ExecutionContext, extra: JsonObject = {}) => chat(t.title, { model: MODELS.house, ...extra })

for (const [claim, wrap] of Object.entries({
  JSON: (body: JsonObject) => body,
  'a stream': streamed,
  'a stream with usage': streamedWithUsage,
})) {
  for (const model of [MODELS.openai, MODELS.house]) {
    test(`cached chat: ${claim} asked again is a hit with the same bytes (${model})`, async (t) => {
      const scenario = fixture.scenario()
      const body = wrap(prompted(t, { model }))
      const { replies, states } = await askEach(scenario, [body, body])
      t.deepEqual(states, ['miss', 'hit'])
      t.deepEqual(replies[1]?.body, replies[0]?.body)
      t.is(replies[1]?.headers['content-type']?.split(';')[0], replies[0]?.headers['content-type']?.split(';')[0])
      t.is(replies[1]?.headers['x-svc-model'], model)
      t.is([...scenario.seen('openai'), ...scenario.seen('house')].length, 1)
    })
  }
}

for (const wrap of [(body: JsonObject) => body, streamed])
  test(`cached chat: a second caller has an answer of its own (${wrap.name || 'JSON'})`, async (t) => {
    const scenario = fixture.scenario()
    const body = wrap(prompted(t))
    const { states } = await askEach(scenario, [body, body])
    t.deepEqual(states, ['miss', 'hit'])
    const second = await sendChat(scenario, body, { headers: { authorization: `Bearer ${nextCaller()}` } })
    t.notThrows(() => assertOwn(t.title, second))
    t.is(scenario.seen('house').length, 2)
  })

test('cached chat: a hit has the tokens of the stored reply in its log line', async (t) => {
  const { replies } = await askEach(fixture.scenario(), [streamed(prompted(t)), streamed(prompted(t))])
  const [first, again] = await Promise.all(replies.map((reply) => logLineOf(fixture.gateway, reply)))
  t.true(Number(valueAt(first, 'tokens.out')) > 0)
  t.deepEqual(again?.tokens, first?.tokens)
})

test('cached chat: an unknown field of another value is another request', (t) =>
  assertApart(t, [prompted(t, { novel: 1 }), prompted(t, { novel: 2 })]))

test('cached chat: an unknown field that one has is another request', (t) =>
  assertApart(t, [prompted(t), prompted(t, { novel: null })]))

test('cached chat: a stream and JSON are two requests', (t) => assertApart(t, [prompted(t), streamed(prompted(t))]))

test('cached chat: a stream with usage and one without are two requests', (t) =>
  assertApart(t, [streamed(prompted(t)), streamedWithUsage(prompted(t))]))

test('cached chat: numbers are distinguished as they are written', (t) => {
  const text = JSON.stringify(prompted(t))
  return assertApart(t, [`${text.slice(0, -1)},"seed":1}`, `${text.slice(0, -1)},"seed":1.0}`])
})

test('cached chat: models are distinguished', (t) =>
  assertApart(t, [prompted(t), prompted(t, { model: MODELS.openai })]))

test('cached chat: dropped fields are distinguished, too', (t) =>
  assertApart(t, [
    prompted(t, { model: MODELS.anthropic, seed: 1 }),
    prompted(t, { model: MODELS.anthropic, seed: 2 }),
  ]))

test('cached chat: a model with and without its prefix is the same request', async (t) => {
  const { states } = await askEach(fixture.scenario(), [
    prompted(t, { model: 'gpt-4o' }),
    prompted(t, { model: 'openai/gpt-4o' }),
  ])
  t.deepEqual(states, ['miss', 'hit'])
})

test('cached chat: callers do not share', async (t) => {
  const scenario = fixture.scenario()
  const states = []
  for (const caller of ['one', 'two'])
    states.push(stateOf(await sendChat(scenario, prompted(t), { headers: { authorization: `Bearer ${caller}` } })))
  t.deepEqual(states, ['miss', 'miss'])
})

for (const model of [MODELS.anthropic, MODELS.openai]) {
  for (const first of ['messages', 'chat']) {
    test(`cached chat: a messages client and a chat client do not share (${model}, ${first} first)`, async (t) => {
      const scenario = fixture.scenario()
      const askMessages = () => scenario.send({ body: ask(t.title, { model }) })
      const askChat = () => sendChat(scenario, prompted(t, { model, max_tokens: 100 }))
      const calls = first === 'chat' ? [askChat, askMessages] : [askMessages, askChat]
      const replies = []
      for (const call of [...calls, ...calls]) replies.push(await call())
      t.deepEqual(replies.map(stateOf), ['miss', 'miss', 'hit', 'hit'])
      for (const [index, reply] of replies.entries()) {
        const isChat = (index % 2 === 0) === (first === 'chat')
        t.is(valueAt(reply.json, isChat ? 'object' : 'type'), isChat ? 'chat.completion' : 'message')
      }
    })
  }
}

for (const model of [MODELS.anthropic, MODELS.gemini]) {
  test(`cached chat: a hit of another dialect's answer is sent as a completion (${model})`, async (t) => {
    const scenario = fixture.scenario()
    const body = prompted(t, { model, seed: 7 })
    const { replies, states } = await askEach(scenario, [body, body])
    t.deepEqual(states, ['miss', 'hit'])
    const [first, again] = replies.map(({ json }) => ({ ...Object(json), created: 0 }))
    t.deepEqual(again, first)
    t.is(valueAt(again, 'choices.0.message.content'), `You said: ${t.title}`)
    t.like(replies[1]?.headers, { 'x-svc-model': model, 'x-svc-dropped': replies[0]?.headers['x-svc-dropped'] })
  })

  test(`cached chat: a hit of another dialect's stream is sent in chunks (${model})`, async (t) => {
    const scenario = fixture.scenario()
    const body = streamedWithUsage(prompted(t, { model }))
    const { replies, states } = await askEach(scenario, [body, body])
    t.deepEqual(states, ['miss', 'hit'])
    const [first, again] = replies.map((reply) => ({ ...assembleCompletion(reply.body), created: 0 }))
    t.deepEqual(again, first)
    t.true(Number(valueAt(again, 'usage.completion_tokens')) > 0)
  })
}

for (const model of [MODELS.openai, MODELS.anthropic]) {
  test(`cached chat: two equal streams at the same time are one call, and both are whole (${model})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const held = { kind: 'answer', writes: holdEvent(2, gate.promise) } as const
    const scenario = fixture.scenario({ openai: held, anthropic: held })
    const begun = Promise.withResolvers<void>()
    const body = streamedWithUsage(prompted(t, { model }))
    const first = sendChat(scenario, body, { onChunk: () => begun.resolve() })
    await begun.promise
    const second = sendChat(scenario, body, { onHeaders: () => gate.resolve() })
    const replies = await Promise.all([first, second])
    t.deepEqual(replies.map(stateOf), ['miss', 'attached'])
    for (const reply of replies) assertChatStream(reply.body)
    const [one, other] = replies.map((reply) => ({ ...assembleCompletion(reply.body), created: 0 }))
    t.deepEqual(other, one)
    t.is(scenario.seen('openai').length + scenario.seen('anthropic').length, 1)
  })
}

test('cached chat: two equal JSON requests at the same time are one call', async (t) => {
  const gate = Promise.withResolvers<void>()
  const scenario = fixture.scenario({ house: { kind: 'answer', before: { until: gate.promise } } })
  const first = sendChat(scenario, prompted(t))
  await fixture.servers.house.until(() => scenario.seen('house').length === 1)
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  const second = sendChat(scenario, prompted(t), { onSent: resolve })
  await sent
  for (let i = 0; i < 3; i++) await scenario.send({ method: 'GET', path: '/health' })
  gate.resolve()
  const replies = await Promise.all([first, second])
  t.deepEqual(replies.map(stateOf), ['miss', 'attached'])
  t.deepEqual(replies[1]?.body, replies[0]?.body)
  t.is(scenario.seen('house').length, 1)
})

test('cached chat: a stream that broke off is not stored', async (t) => {
  const scenario = fixture.scenario({
    house: (nth) => (nth === 1 ? { kind: 'answer', cutAfterBytes: 400 } : undefined),
  })
  const { states, replies } = await askEach(scenario, [
    streamed(prompted(t)),
    streamed(prompted(t)),
    streamed(prompted(t)),
  ])
  t.deepEqual(states, ['miss', 'miss', 'hit'])
  t.notRegex(String(replies[0]?.text), /\[DONE\]/)
  assertChatStream(String(replies[2]?.text))
})

for (const status of [400, 429]) {
  test(`cached chat: a ${status} is not stored`, async (t) => {
    const scenario = fixture.scenario({ house: (nth) => (nth === 1 ? { kind: 'error', status } : undefined) })
    const { states, replies } = await askEach(scenario, [prompted(t), prompted(t)])
    t.deepEqual(states, ['miss', 'miss'])
    t.deepEqual(
      replies.map((reply) => reply.status),
      [status, 200],
    )
  })
}

for (const wrap of [(body: JsonObject) => body, streamed]) {
  test(`cached chat: a fallback’s answer is not stored, the first’s is, and names its provider (${wrap.name || 'JSON'})`, async (t) => {
    const scenario = fixture.scenario({ openai: (nth) => (nth === 1 ? { kind: 'error', status: 500 } : undefined) })
    const body = wrap(prompted(t, { model: 'cached-pair' }))
    const { replies, states } = await askEach(scenario, [body, body, body])
    t.deepEqual(states, ['miss', 'miss', 'hit'])
    const by = replies.map(({ headers }) => headers['x-svc-model'])
    t.deepEqual(by, [MODELS.house, MODELS.openai, MODELS.openai])
  })
}
