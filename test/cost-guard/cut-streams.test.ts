import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import OpenAI from 'openai'
import type { DialectName } from '../../src/core/reply/reply-dialect.ts'
import { parseEvents } from '../support/events.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import { guardedBy } from '../support/pipelines.ts'
import { assertResponseStream } from '../support/response-rules.ts'
import { checkEvents } from '../support/stream-rules.ts'
import { actionOf, openCostFixture, tokenOf } from './cost-fixture.ts'

const cost = await openCostFixture()
test.after.always(() => cost.close())

// Far longer than the caps below pay for; the client would take it all.
const WORDS = 1500
const text = Array.from({ length: WORDS }, (_, index) => `word${index}`).join(' ')
const MANY = { max_tokens: 8000 }
/** Pays for some 600 tokens. */
const CAPS = ['per_request=0.01', 'per_day=0.01', 'per_month=0.01']
const slowly = { kind: 'answer', text, writes: { sizes: [2000] } } as const
/** Waits after half of it, so that the gateway's leaving is seen. */
const stuck = {
  ...slowly,
  writes: { sizes: [2000], between: (done: number) => (done === 40 ? { until: new Promise(() => {}) } : undefined) },
} as const
const scripts = { anthropic: slowly, openai: slowly, house: slowly }

const stopReason = (events: ReturnType<typeof parseEvents>) =>
  valueAt(events.findLast(({ event }) => event === 'message_delta')?.data, 'delta.stop_reason')
const finishReasons = (events: ReturnType<typeof parseEvents>) =>
  events.map(({ data }) => valueAt(data, 'choices.0.finish_reason')).filter((reason) => typeof reason === 'string')

for (const guard of CAPS) {
  test(`cut: a Messages stream that ${guard} does not pay for ends as the provider would end it`, async (t) => {
    const scenario = cost.fixture.scenario({ anthropic: stuck })
    const reply = await cost.ask(scenario, { as: t.title, guard, stream: true, extra: MANY })
    t.is(reply.status, 200)
    t.true(reply.endedCleanly)
    const events = parseEvents(reply.body)
    t.notThrows(() => checkEvents(events))
    t.is(stopReason(events), 'max_tokens')
    const words = (reply.text.match(/word\d+/g) ?? []).length
    t.true(words > 50 && words < WORDS, String(words))
    t.is(await actionOf(cost.fixture, reply), 'cut')
    await cost.fixture.servers.anthropic.until(() => scenario.seen('anthropic').every(({ ended }) => ended !== 'open'))
    t.is(scenario.seen('anthropic')[0]?.ended, 'client-left')
    if (guard.startsWith('per_request')) return
    const { settledNanoUsd } = await cost.settled(t.title)
    t.true(settledNanoUsd > 0.005e9 && settledNanoUsd <= 0.01e9, String(settledNanoUsd))
  })
}

const translated: [claim: string, model: string, dialect: DialectName][] = [
  ['a chat stream of a chat provider', 'gpt-4o', 'chat'],
  ['a chat stream of a Messages provider', 'claude-sonnet-4-5', 'chat'],
  ['a Messages stream of a chat provider', 'openai/gpt-4o', 'messages'],
  ['a Responses stream of a Messages provider', 'claude-sonnet-4-5', 'responses'],
  ['a Responses stream of a chat provider', 'openai/gpt-4o', 'responses'],
]
for (const [claim, model, dialect] of translated) {
  test(`cut: ${claim} ends as the provider would end it`, async (t) => {
    const asking = { as: t.title, guard: 'per_day=0.008', stream: true, dialect, extra: { ...MANY, model } }
    const reply = await cost.ask(cost.fixture.scenario(scripts), asking)
    t.is(reply.status, 200)
    const events = parseEvents(reply.body)
    if (dialect === 'messages') {
      t.notThrows(() => checkEvents(events))
      t.is(stopReason(events), 'max_tokens')
    } else if (dialect === 'responses') {
      t.like(assertResponseStream(reply.body), { incomplete_details: { reason: 'max_output_tokens' } })
    } else {
      t.deepEqual(finishReasons(events), ['length'])
      t.is(events.at(-1)?.text, '[DONE]')
    }
    const { settledNanoUsd } = await cost.settled(t.title)
    t.true(settledNanoUsd > 0.003e9 && settledNanoUsd <= 0.008e9, String(settledNanoUsd))
  })
}

test('cut: a tool’s input that is cut leaves a stream whose blocks are closed', async (t) => {
  const content = [
    { type: 'text', text: 'Let me see.' },
    { type: 'tool_use', id: 'toolu_1', name: 'write', input: { text } },
  ]
  const script = { anthropic: { kind: 'answer', content, writes: { sizes: [2000] } } } as const
  const guard = 'per_request=0.01'
  const reply = await cost.ask(cost.fixture.scenario(script), { as: t.title, guard, stream: true, extra: MANY })
  const events = parseEvents(reply.body)
  t.is(stopReason(events), 'max_tokens')
  const open = events.filter(({ event }) => event === 'content_block_start').length
  t.is(events.filter(({ event }) => event === 'content_block_stop').length, open)
  t.is(events.at(-1)?.event, 'message_stop')
})

test('cut: the Anthropic SDK accepts a cut stream', async (t) => {
  const client = new Anthropic({
    apiKey: tokenOf(t.title),
    baseURL: cost.fixture.gateway.url,
    maxRetries: 0,
    defaultHeaders: { ...cost.fixture.scenario(scripts).headers, 'x-svc-pipe': guardedBy('per_day=0.02') },
  })
  const asked = { model: 'claude-opus-4-8', ...MANY, messages: [{ role: 'user' as const, content: 'hi' }] }
  const message = await client.messages.stream(asked).finalMessage()
  t.is(message.stop_reason, 'max_tokens')
  t.true(message.content[0]?.type === 'text' && message.content[0].text.startsWith('word0 word1 '))
})

test('cut: the OpenAI SDK accepts a cut stream', async (t) => {
  const client = new OpenAI({
    apiKey: tokenOf(t.title),
    baseURL: `${cost.fixture.gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { ...cost.fixture.scenario(scripts).headers, 'x-svc-pipe': guardedBy('per_day=0.008') },
  })
  const asked = { model: 'gpt-4o', ...MANY, messages: [{ role: 'user' as const, content: 'hi' }] }
  const completion = await client.chat.completions.stream(asked).finalChatCompletion()
  t.is(completion.choices[0]?.finish_reason, 'length')
  t.true(completion.choices[0]?.message.content?.startsWith('word0 word1 '))
})

test('cut: a cut stream is not stored', async (t) => {
  const scenario = cost.fixture.scenario(scripts)
  const asking = { as: t.title, guard: 'per_request=0.01', stream: true, extra: MANY }
  const replies = [await cost.ask(scenario, asking), await cost.ask(scenario, asking)]
  t.deepEqual(
    replies.map(({ headers }) => headers['x-svc-cache']),
    ['miss', 'miss'],
  )
  t.is(scenario.seen('anthropic').length, 2)
})

test('cut: a stream that is paid for is not touched', async (t) => {
  const scenario = cost.fixture.scenario(scripts)
  const guarded = await cost.ask(scenario, { as: t.title, guard: 'per_day=1', stream: true, extra: MANY })
  const plain = await cost.ask(scenario, { as: t.title, pipe: 'none', stream: true, extra: MANY })
  const withoutId = (body: Buffer) => body.toString().replace(/msg_\w+/g, 'msg')
  t.is(withoutId(guarded.body), withoutId(plain.body))
  t.is(await actionOf(cost.fixture, guarded), 'held')
  t.is(stopReason(parseEvents(guarded.body)), 'end_turn')
})

test('cut: an answer that is whole before it could be stopped is whole, and paid as it was counted', async (t) => {
  const usage = { input_tokens: 10, output_tokens: 3000 }
  const script = { anthropic: { kind: 'answer', text: 'word '.repeat(1000), usage } } as const
  const guard = 'per_day=0.03'
  const reply = await cost.ask(cost.fixture.scenario(script), { as: t.title, guard, stream: true, extra: MANY })
  const events = parseEvents(reply.body)
  t.notThrows(() => checkEvents(events))
  const { settledNanoUsd } = await cost.settled(t.title)
  if (stopReason(events) === 'end_turn') t.is(settledNanoUsd, 10 * 3000 + 3000 * 15_000)
  else t.true(settledNanoUsd <= 0.03e9)
})

for (const [claim, extra] of [
  ['JSON', {}],
  ['a stream with thinking', { stream: true, thinking: { type: 'enabled', budget_tokens: 6000 } }],
] as [string, JsonObject][]) {
  test(`clamp: ${claim} that a cap does not pay for goes out with a lower max_tokens`, async (t) => {
    const scenario = cost.fixture.scenario()
    const asking = { as: t.title, guard: 'per_request=0.06', extra: { max_tokens: 8000, ...extra } }
    const reply = await cost.ask(scenario, asking)
    t.is(reply.status, 200)
    t.is(await actionOf(cost.fixture, reply), 'clamped')
    const sent = scenario.seen('anthropic')[0]?.json
    const maxTokens = Number(sent?.max_tokens)
    t.true(maxTokens > 3500 && maxTokens * 15_000 < 0.06e9, String(maxTokens))
    if (isJsonObject(sent?.thinking)) t.true(Number(sent.thinking.budget_tokens) < maxTokens)
  })
}

test('clamp: a budget of interleaved thinking above max_tokens is held for, and lowered', async (t) => {
  const scenario = cost.fixture.scenario()
  const extra = { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 100_000 } }
  // The stand-in refuses such a budget: only its request counts here.
  await cost.ask(scenario, { as: t.title, guard: 'per_request=0.06', extra })
  const sent = scenario.seen('anthropic')[0]?.json
  t.is(sent?.max_tokens, 2000)
  const budget = Number(valueAt(sent, 'thinking.budget_tokens'))
  t.true(budget > 3500 && budget * 15_000 < 0.06e9, String(budget))
})

test('clamp: thinking that has no room below max_tokens is left out', async (t) => {
  const scenario = cost.fixture.scenario()
  const thinking = { type: 'enabled', budget_tokens: 6000 }
  const reply = await cost.ask(scenario, {
    as: t.title,
    guard: 'per_request=0.01',
    extra: { max_tokens: 8000, thinking },
  })
  t.is(reply.status, 200)
  t.is(scenario.seen('anthropic')[0]?.json?.thinking, undefined)
})

for (const name of ['max_tokens', 'max_completion_tokens']) {
  test(`clamp: a chat completion’s ${name} is lowered`, async (t) => {
    const scenario = cost.fixture.scenario()
    const extra = { max_tokens: undefined, [name]: 8000 }
    const reply = await cost.ask(scenario, { as: t.title, guard: 'per_request=0.04', dialect: 'chat', extra })
    t.is(reply.status, 200)
    const { max_tokens, max_completion_tokens } = scenario.seen('openai')[0]?.json ?? {}
    const sent = Number(max_completion_tokens ?? max_tokens)
    t.true(sent > 3000 && sent < 4000, String(sent))
  })
}

// The gateway's own default for an open field is not sent; a value of the guard is.
test('clamp: a chat completion that names no limit is given one', async (t) => {
  const scenario = cost.fixture.scenario()
  const extra = { max_tokens: undefined }
  await cost.ask(scenario, { as: t.title, guard: 'per_request=0.04', dialect: 'chat', extra })
  const { max_tokens, max_completion_tokens } = scenario.seen('openai')[0]?.json ?? {}
  t.true(Number(max_completion_tokens ?? max_tokens) < 4000)
})
