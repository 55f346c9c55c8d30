import test from 'ava'
import { assembleMessage, assertMessageStream } from '../support/events.ts'
import type { JsonObject } from '../support/json.ts'
import { toSse } from '../support/provider/message-events.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'
import { toResponse, toSse as toResponseSse } from '../support/responses/answer.ts'

const fixture = await openProviderFixture({ config: { pipeline: { default: 'redact', locked: ['redact'] } } })
test.after.always(() => fixture.close())

const VALUE = 'canary1@acme-corp.io'
const PLACEHOLDER = /REDACTED_EMAIL_[0-9A-Z]{12}/
const INVENTED = 'REDACTED_EMAIL_000000000000'
const bodyFor = (model: string, stream: boolean): JsonObject => ({
  model,
  max_tokens: 1000,
  stream,
  messages: [{ role: 'user', content: `I am ${VALUE}` }],
})
const placeholderIn = (request: { raw: Buffer }) => PLACEHOLDER.exec(request.raw.toString())?.[0] ?? ''

/** Reply of a provider in its own dialect, with a text wherever the dialect has one. */
const contentWith = (text: string): JsonObject[] => [
  {
    type: 'text',
    text: `As in ${text}.`,
    citations: [
      {
        ...{ type: 'char_location', document_index: 0, start_char_index: 0, end_char_index: 4 },
        ...{ cited_text: `quoted ${text}`, document_title: text },
      },
    ],
  },
  { type: 'tool_use', id: 'toolu_1', name: 'send', input: { to: [text], note: `"${text}"\n` } },
]

for (const stream of [false, true])
  test(`redact: texts, citations and arguments are restored: stream ${stream}`, async (t) => {
    const scenario = fixture.scenario({
      anthropic: (_nth, request) => ({
        kind: 'answer',
        content: contentWith(`${placeholderIn(request)} and ${INVENTED}`),
        writes: { sizes: [1], atMost: 4000 },
      }),
    })
    const reply = await scenario.send({ body: bodyFor(MODELS.anthropic, stream) })
    t.is(reply.status, 200, reply.text)
    // biome-ignore lint/suspicious/noExplicitAny: members of a parsed reply
    const message: any = stream ? assembleMessage(assertMessageStream(reply.body)) : reply.json
    t.deepEqual(message.content, contentWith(`${VALUE} and ${INVENTED}`))
  })

const chunk = (delta: JsonObject, finish: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'qwen3-32b' },
  choices: [{ index: 0, delta, finish_reason: finish }],
})

test('redact: unsigned thinking is restored, and what is held of it does not delay the answer', async (t) => {
  const scenario = fixture.scenario({
    house: (_nth, request) => {
      const text = placeholderIn(request)
      const chunks = [
        chunk({ role: 'assistant', reasoning_content: `He is ${text.slice(0, 12)}` }),
        chunk({ reasoning_content: `${text.slice(12)}, R` }),
        chunk({ content: `Hello ${text}` }),
        chunk({}, 'stop'),
      ]
      return {
        kind: 'sse',
        bytes: `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`,
      }
    },
  })
  const reply = await scenario.send({ path: '/v1/chat/completions', body: bodyFor(MODELS.house, true) })
  t.is(reply.status, 200, reply.text)
  const deltas = reply.text.split('\n').flatMap((line) => {
    return line.startsWith('data: {') ? [JSON.parse(line.slice(6)).choices?.[0]?.delta ?? {}] : []
  })
  t.is(deltas.map(({ reasoning_content = '' }) => reasoning_content).join(''), `He is ${VALUE}, R`)
  t.is(deltas.map(({ content = '' }) => content ?? '').join(''), `Hello ${VALUE}`)
})

test('redact: a cache behind it stores placeholders, and its hits are restored', async (t) => {
  const scenario = fixture.scenario({
    anthropic: (_nth, request) => ({ kind: 'answer', text: `Hello ${placeholderIn(request)}` }),
  })
  const headers = { 'x-svc-pipe': 'redact,exact-cache' }
  const body = bodyFor(MODELS.anthropic, false)
  const [first, second] = [await scenario.send({ body, headers }), await scenario.send({ body, headers })]
  t.is(scenario.seen('anthropic').length, 1)
  for (const { text } of [first, second]) t.true(text.includes(`Hello ${VALUE}`), text)
})

test('redact: a stream that breaks off leaves no part of a placeholder', async (t) => {
  const scenario = fixture.scenario({
    anthropic: (_nth, request) => {
      const whole = toSse([
        {
          type: 'message_start',
          message: {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] },
            ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: `Hello ${placeholderIn(request)}` },
        },
      ])
      return { kind: 'sse', bytes: whole }
    },
  })
  const reply = await scenario.send({ body: bodyFor(MODELS.anthropic, true) })
  t.true(reply.text.includes(VALUE))
  t.false(PLACEHOLDER.test(reply.text))
})

test('redact: a response that its provider stores is continued by its id, and placeholders stay the same', async (t) => {
  const scenario = fixture.scenario({
    responder: (nth, request) => {
      const body: JsonObject = Object(request.json)
      const text = `Hello ${placeholderIn(request)}`
      const response = { ...toResponse({ body, nth }, { kind: 'answer', text }), store: true }
      return body.stream === true
        ? { kind: 'sse', bytes: toResponseSse(response, false) }
        : { kind: 'reply', body: response }
    },
  })
  const turn = (content: string, more: JsonObject = {}) => ({
    path: '/v1/responses',
    body: { model: MODELS.responder, store: true, input: [{ type: 'message', role: 'user', content }], ...more },
  })
  for (const stream of [false, true]) {
    const first = await scenario.send(turn(`I am ${VALUE}`, { stream }))
    t.true(first.text.includes(VALUE), first.text)
    const id = /"id":"(resp_[^"]+)"/.exec(first.text)?.[1]
    const next = await scenario.send(turn(`Write to ${VALUE}`, { previous_response_id: id }))
    t.is(next.status, 200, next.text)
    const [one, other] = scenario.seen('responder').slice(-2)
    t.is(other?.json?.previous_response_id, id)
    t.is(one && placeholderIn(one), other && placeholderIn(other))
  }
})
