import test, { type ExecutionContext } from 'ava'
import { chat, streamed } from '../support/chat-bodies.ts'
import { assembleCompletion, assertChatStream, parseChatChunks } from '../support/chat-chunks.ts'
import { logLineOf, sendChat } from '../support/door.ts'
import { assembleMessage, assertMessageStream, parseEvents } from '../support/events.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { holdEvent } from '../support/provider/script.ts'
import { openProviderFixture, PROVIDERS, type ProviderName, type ScenarioScripts } from '../support/provider-fixture.ts'

const CLAUDE = 'anthropic/claude-sonnet-4-5'
const GPT = 'openai/gpt-4o'
const QWEN = 'house/qwen3-32b'
const fixture = await openProviderFixture({
  config: {
    models: {
      'claude-gpt': [CLAUDE, GPT],
      'gpt-claude': [GPT, CLAUDE],
      'gpt-qwen': [GPT, QWEN],
      'closed-qwen': ['closed/model', QWEN],
      three: [CLAUDE, GPT, QWEN],
      'gemini-gpt': ['gemini/gemini-2.5-flash', GPT],
    },
    providers: {
      tries: 2,
      timeouts: { first_byte: '2s' },
      'openai-compatible': { closed: { base_url: 'http://127.0.0.1:1/v1' } },
    },
  },
})
test.after.always(() => fixture.close())

const failing = (status: number) => ({ kind: 'error', status }) as const
const limited = { kind: 'error', status: 429, headers: { 'retry-after': '60' } } as const
const never = new Promise<void>(() => {})

/** Counts the calls of each provider in a scenario, in the order of `PROVIDERS`. */
function callsOf(scenario: ReturnType<typeof fixture.scenario>): Partial<Record<ProviderName, number>> {
  const counts = PROVIDERS.map((name) => [name, scenario.seen(name).length] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** Asserts that the substitute gave a whole answer, in the client's dialect. */
function assertAnswered(t: ExecutionContext, reply: Reply, given: { by: string; stream: boolean; route: string }) {
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['x-svc-model'], given.by)
  if (given.route === 'chat') {
    if (given.stream) assertChatStream(reply.text.replaceAll(',"usage":null', ''))
    else t.is(valueAt(reply.json, 'choices.0.message.content'), 'You said: hi')
  } else {
    const message = given.stream ? assembleMessage(assertMessageStream(reply.body)) : reply.json
    t.is(valueAt(message, 'content.0.text'), 'You said: hi')
  }
}

const across: [route: 'messages' | 'chat', model: string, first: ProviderName, by: string][] = [
  ['messages', 'claude-gpt', 'anthropic', GPT],
  ['messages', 'gpt-claude', 'openai', CLAUDE],
  ['messages', 'gemini-gpt', 'gemini', GPT],
  ['chat', 'claude-gpt', 'anthropic', GPT],
  ['chat', 'gpt-claude', 'openai', CLAUDE],
  ['chat', 'gpt-qwen', 'openai', QWEN],
]
for (const [route, model, first, by] of across) {
  for (const stream of [false, true]) {
    test(`fallback: ${route}: after 5xx at all tries ${model} is answered by its second (stream: ${stream})`, async (t) => {
      const scenario = fixture.scenario({ [first]: failing(503) })
      const reply =
        route === 'chat'
          ? await sendChat(scenario, chat('hi', { model, stream }))
          : await scenario.send({ body: ask('hi', { model, stream }) })
      assertAnswered(t, reply, { by, stream, route })
      const [second] = by.split('/') as [ProviderName]
      t.deepEqual(callsOf(scenario), { [first]: 2, [second]: 1 })
    })
  }
}

test('fallback: the log names the provider that failed and the one that answered', async (t) => {
  const reply = await fixture
    .scenario({ anthropic: failing(500), openai: limited })
    .send({ body: ask('hi', { model: 'three' }) })
  const calls = `${CLAUDE}:failed ${GPT}:429 ${QWEN}:200`
  t.like(await logLineOf(fixture.gateway, reply), { status: 200, model: 'three', calls })
})

test('fallback: a rate limit that stays is answered by the second, without a second try at the first', async (t) => {
  const scenario = fixture.scenario({ openai: limited })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-qwen' }))
  assertAnswered(t, reply, { by: QWEN, stream: false, route: 'chat' })
  t.deepEqual(callsOf(scenario), { openai: 1, house: 1 })
  t.is(reply.headers['retry-after'], undefined)
})

test('fallback: a refused connection is answered by the second', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('hi', { model: 'closed-qwen' }))
  assertAnswered(t, reply, { by: QWEN, stream: false, route: 'chat' })
})

test('fallback: a connection that breaks before the reply is answered by the second', async (t) => {
  const scenario = fixture.scenario({ openai: { kind: 'break', at: 'before-headers' } })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-qwen' }))
  assertAnswered(t, reply, { by: QWEN, stream: false, route: 'chat' })
})

test('fallback: a first byte that does not come in time is answered by the second, and the first is let go', async (t) => {
  const scenario = fixture.scenario({ openai: { kind: 'hang', at: 'before-headers' } })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-qwen' }))
  assertAnswered(t, reply, { by: QWEN, stream: false, route: 'chat' })
  t.deepEqual(callsOf(scenario), { openai: 1, house: 1 })
  t.is(await scenario.seen('openai')[0]?.closed, 'client-left')
})

for (const status of [400, 401, 403, 404, 413, 422]) {
  test(`fallback: a ${status} is the first’s answer: no other is called`, async (t) => {
    const scenario = fixture.scenario({ anthropic: { ...failing(status), message: 'First says.' } })
    const reply = await scenario.send({ body: ask('hi', { model: 'claude-gpt' }) })
    t.is(reply.status, status)
    t.is(valueAt(reply.json, 'error.message'), 'First says.')
    t.is(reply.headers['x-svc-model'], CLAUDE)
    t.deepEqual(callsOf(scenario), { anthropic: 1 })
  })
}

test('fallback: a request that the first cannot take is refused: no other is called', async (t) => {
  const scenario = fixture.scenario()
  const reply = await sendChat(scenario, chat('hi', { model: 'claude-gpt', n: 2 }))
  t.is(reply.status, 400)
  t.deepEqual(callsOf(scenario), {})
})

const breaking: ScenarioScripts = { anthropic: { kind: 'answer', text: 'a b c d e f', cutAfterBytes: 600 } }
test('fallback: a stream that breaks after its first event is not asked for elsewhere (messages)', async (t) => {
  const scenario = fixture.scenario(breaking)
  const reply = await scenario.send({ body: ask('hi', { model: 'claude-gpt', stream: true }) })
  t.is(reply.headers['x-svc-model'], CLAUDE)
  const events = parseEvents(reply.body)
  t.is(events[0]?.event, 'message_start')
  t.is(events.at(-1)?.event, 'error')
  t.deepEqual(callsOf(scenario), { anthropic: 1 })
})

test('fallback: a stream that breaks after its first event is not asked for elsewhere (chat)', async (t) => {
  const scenario = fixture.scenario({ openai: { kind: 'answer', text: 'a b c d e f', cutAfterBytes: 600 } })
  const reply = await sendChat(scenario, streamed(chat('hi', { model: 'gpt-qwen' })))
  t.truthy(valueAt(parseChatChunks(reply.body).at(-1), 'error'))
  t.deepEqual(callsOf(scenario), { openai: 1 })
})

test('fallback: when all fail, the error is the first’s', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(529), openai: failing(500), house: failing(503) })
  const reply = await scenario.send({ body: ask('hi', { model: 'three' }) })
  t.is(reply.status, 502)
  t.regex(String(valueAt(reply.json, 'error.message')), /^Provider anthropic failed after 2 tries: answered 529/)
  t.deepEqual(callsOf(scenario), { anthropic: 2, openai: 2, house: 2 })
})

test('fallback: when the first is over its rate limit and the second fails, the answer is the rate limit', async (t) => {
  const scenario = fixture.scenario({ openai: limited, house: failing(500) })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-qwen' }))
  t.is(reply.status, 429)
  t.is(reply.headers['retry-after'], '60')
  t.is(reply.headers['x-svc-model'], GPT)
})

test('fallback: when all are over their rate limits, the answer is a rate limit', async (t) => {
  const scenario = fixture.scenario({ openai: limited, house: { ...limited, headers: { 'retry-after': '7' } } })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-qwen' }))
  t.is(reply.status, 429)
  t.deepEqual(callsOf(scenario), { openai: 1, house: 1 })
})

test('fallback: a target that cannot take the request is skipped', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(529) })
  const reply = await sendChat(scenario, chat('hi', { model: 'gpt-claude', n: 2 }))
  t.is(reply.status, 200, 'openai is asked first and answers')
  const failed = fixture.scenario({ openai: failing(500) })
  const refused = await sendChat(failed, chat('hi', { model: 'gpt-claude', n: 2 }))
  t.is(refused.status, 502)
  t.regex(String(valueAt(refused.json, 'error.message')), /^Provider openai failed/)
  t.deepEqual(callsOf(failed), { openai: 2 })
})

test('fallback: behind a substitute that cannot be sent the request the next is asked', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(529) })
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  const reply = await scenario.send({ body: ask('hi', { model: 'three', tools }) })
  t.is(reply.status, 502)
  t.regex(String(valueAt(reply.json, 'error.message')), /^Provider anthropic failed/)
  t.deepEqual(callsOf(scenario), { anthropic: 2 })
})

for (const status of [400, 413])
  test(`fallback: behind a substitute that answers ${status} the next is called`, async (t) => {
    const scenario = fixture.scenario({ anthropic: failing(529), openai: failing(status) })
    const reply = await scenario.send({ body: ask('hi', { model: 'three' }) })
    assertAnswered(t, reply, { by: QWEN, stream: false, route: 'messages' })
    t.deepEqual(callsOf(scenario), { anthropic: 2, openai: 1, house: 1 })
  })

test('fallback: fields that a fallback dropped are reported', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(500) })
  const reply = await scenario.send({ body: ask('hi', { model: 'claude-gpt', top_k: 5 }) })
  t.is(reply.headers['x-svc-dropped'], 'top_k')
})

test('fallback: a client that leaves while the second is asked ends that call, and no third is made', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(500), openai: { kind: 'hang', at: 'before-headers' } })
  const leaving = new AbortController()
  const reply = scenario.send({ body: ask('hi', { model: 'three' }), signal: leaving.signal })
  await fixture.servers.openai.until(() => scenario.seen('openai').length === 1)
  leaving.abort()
  await reply
  t.is(await scenario.seen('openai')[0]?.closed, 'client-left')
  await fixture.scenario().send({ method: 'GET', path: '/health' })
  t.deepEqual(callsOf(scenario), { anthropic: 2, openai: 1 })
})

test('fallback: a client that leaves a substitute’s stream ends it', async (t) => {
  const held = { kind: 'answer', text: 'one two three four', writes: holdEvent(2, never) } as const
  const scenario = fixture.scenario({ anthropic: failing(500), openai: held })
  const leaving = new AbortController()
  const request = { body: ask('hi', { model: 'claude-gpt', stream: true }), signal: leaving.signal }
  await scenario.send({ ...request, onChunk: () => leaving.abort() })
  t.is(await scenario.seen('openai')[0]?.closed, 'client-left')
})

const CACHED = { 'x-svc-pipe': 'exact-cache' }
for (const stream of [false, true]) {
  test(`fallback: a substitute's answer is not stored: the next request is asked of the first again (stream: ${stream})`, async (t) => {
    const scenario = fixture.scenario({ anthropic: (nth) => (nth <= 2 ? failing(500) : undefined) })
    const request = { body: ask(`cached ${stream}`, { model: 'claude-gpt', stream }), headers: CACHED }
    const replies = [await scenario.send(request), await scenario.send(request), await scenario.send(request)]
    t.deepEqual(
      replies.map(({ headers }) => [headers['x-svc-cache'], headers['x-svc-model']]),
      [
        ['miss', GPT],
        ['miss', CLAUDE],
        ['hit', CLAUDE],
      ],
    )
    t.deepEqual(callsOf(scenario), { anthropic: 3, openai: 1 })
  })
}

test('fallback: a substitute’s stream is complete for a client of the chat dialect, with its usage', async (t) => {
  const scenario = fixture.scenario({ anthropic: failing(500) })
  const body = chat('one two', { model: 'claude-gpt', stream: true, stream_options: { include_usage: true } })
  const reply = await sendChat(scenario, body)
  t.is(valueAt(assembleCompletion(reply.body), 'choices.0.message.content'), 'You said: one two')
})
