import test from 'ava'
import { assembleMessage, assertMessageStream, parseEvents } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { parseJson, valueAt } from '../../support/json.ts'
import { type Behaviour, openSubjects } from './subjects.ts'

const [{ subjects, gateway, close }, impatient] = await Promise.all([openSubjects(), openSubjects({ firstByte: '1s' })])
test.after.always(() => Promise.all([close(), impatient.close()]))

const QUESTION = { max_tokens: 200, messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] }
const TOOL = {
  name: 'weather',
  description: 'Returns the weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const INPUT = { city: 'Oslo “☂” \\ "quoted"' }
const CHAT = { path: '/v1/chat/completions' }
const CALLERS_KEY = 'callers-own-secret'

/** The same each time. */
const always = (behaviour: Behaviour) => () => behaviour

for (const subject of subjects) {
  const { name, open } = subject
  const title = (claim: string) => `conformance: ${name} ${claim}`

  test(title('answers with text, usage and the name of the provider'), async (t) => {
    const scenario = open(always({ kind: 'text', text: 'Rain, mostly.' }))
    const { status, json, headers } = await scenario.send(QUESTION)
    t.is(status, 200)
    t.like(json, { type: 'message', role: 'assistant', stop_reason: 'end_turn' })
    t.like(valueAt(json, 'content.0'), { type: 'text', text: 'Rain, mostly.' })
    t.true(Number(valueAt(json, 'usage.input_tokens')) > 0 && Number(valueAt(json, 'usage.output_tokens')) > 0)
    t.is(headers['x-svc-model'], scenario.model)
    t.is(scenario.seen().length, 1)
  })

  test(title('streams the same answer with the same usage'), async (t) => {
    const scenario = open(always({ kind: 'text', text: 'Rain, mostly; later more of it.' }))
    const whole = (await scenario.send(QUESTION)).json
    const { status, headers, body } = await scenario.send({ ...QUESTION, stream: true })
    t.is(status, 200)
    t.regex(String(headers['content-type']), /^text\/event-stream/)
    const message = assembleMessage(assertMessageStream(body))
    for (const path of ['content', 'stop_reason', 'usage.input_tokens', 'usage.output_tokens'])
      t.deepEqual(valueAt(message, path), valueAt(whole, path), path)
  })

  test(title('carries a call of a tool and its result'), async (t) => {
    const scenario = open((nth) =>
      nth === 1 ? { kind: 'tool', name: 'weather', input: INPUT } : { kind: 'text', text: 'Take an umbrella.' },
    )
    const first = await scenario.send({ ...QUESTION, tools: [TOOL] })
    t.is(valueAt(first.json, 'stop_reason'), 'tool_use')
    const content = valueAt(first.json, 'content') as Record<string, unknown>[] // safe: the assertion above
    const used = content.find(({ type }) => type === 'tool_use')
    t.like(used, { name: 'weather', input: INPUT })
    const second = await scenario.send({
      ...QUESTION,
      tools: [TOOL],
      messages: [
        ...QUESTION.messages,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: String(used?.id), content: 'rain' }] },
      ],
    })
    t.is(second.status, 200, second.text)
    t.is(valueAt(second.json, 'content.0.text'), 'Take an umbrella.')
    t.is(scenario.seen().length, 2)
  })

  test(title('streams the input of a tool'), async (t) => {
    const scenario = open(always({ kind: 'tool', name: 'weather', input: INPUT }))
    const { body } = await scenario.send({ ...QUESTION, tools: [TOOL], stream: true })
    const message = assembleMessage(assertMessageStream(body))
    t.is(valueAt(message, 'stop_reason'), 'tool_use')
    const blocks = valueAt(message, 'content') as Record<string, unknown>[] // safe: a message has content
    t.like(blocks.at(-1), { type: 'tool_use', name: 'weather', input: INPUT })
  })

  test(title('answers chat completions'), async (t) => {
    const scenario = open(always({ kind: 'text', text: 'Rain, mostly.' }))
    const { status, json, headers } = await scenario.send(QUESTION, CHAT)
    t.is(status, 200)
    t.like(json, { object: 'chat.completion' })
    t.is(valueAt(json, 'choices.0.message.content'), 'Rain, mostly.')
    t.is(valueAt(json, 'choices.0.finish_reason'), 'stop')
    t.true(Number(valueAt(json, 'usage.prompt_tokens')) > 0)
    t.is(headers['x-svc-model'], scenario.model)
  })

  for (const status of [400, 403, 404]) {
    test(title(`passes on a ${status} in the client's own shape`), async (t) => {
      const scenario = open(always({ kind: 'error', status, message: `No, because of ${status}.` }))
      const reply = await scenario.send(QUESTION)
      t.is(reply.status, status)
      t.like(reply.json, { type: 'error' })
      t.true(String(valueAt(reply.json, 'error.message')).includes(`No, because of ${status}.`))
      const chat = await scenario.send(QUESTION, CHAT)
      t.is(chat.status, status)
      t.true(String(valueAt(chat.json, 'error.message')).includes(`No, because of ${status}.`))
      t.is(scenario.seen().length, 2)
    })
  }

  test(title('passes on a 429 with a long wait'), async (t) => {
    const headers = { 'retry-after': '60' }
    const scenario = open(always({ kind: 'error', status: 429, message: 'Slow down.', headers }))
    const reply = await scenario.send(QUESTION)
    t.is(reply.status, 429)
    t.is(reply.headers['retry-after'], '60')
    t.is(valueAt(reply.json, 'error.type'), 'rate_limit_error')
    t.is(scenario.seen().length, 1)
  })

  test(title('is asked again after a 500, and answers'), async (t) => {
    const scenario = open((nth) =>
      nth === 1 ? { kind: 'error', status: 500, message: 'Oops.' } : { kind: 'text', text: 'Now.' },
    )
    const { status, json } = await scenario.send(QUESTION)
    t.is(status, 200)
    t.is(valueAt(json, 'content.0.text'), 'Now.')
    t.is(scenario.seen().length, 2)
  })

  test(title('that fails three times is 502, with its reason'), async (t) => {
    const scenario = open(always({ kind: 'error', status: 503, message: 'Out to lunch.' }))
    const { status, json } = await scenario.send(QUESTION)
    t.is(status, 502)
    t.like(json, { error: { type: 'upstream_error' } })
    t.true(String(valueAt(json, 'error.message')).includes('Out to lunch.'))
    t.is(scenario.seen().length, 3)
  })

  test(title('that breaks off a stream ends with an error event'), async (t) => {
    const scenario = open(always({ kind: 'cut' }))
    const { status, body } = await scenario.send({ ...QUESTION, stream: true })
    t.is(status, 200)
    const events = parseEvents(body)
    t.is(events.at(-1)?.event, 'error')
    t.false(events.some(({ event }) => event === 'message_stop'))
    t.is(scenario.seen().length, 1)
  })

  test(title('is left when its client leaves'), async (t) => {
    const scenario = open(always({ kind: 'hang' }))
    const leaving = new AbortController()
    const reply = scenario.send({ ...QUESTION, stream: true }, { signal: leaving.signal })
    await eventually(() => scenario.seen().length === 1, 'the provider was asked')
    leaving.abort()
    await reply
    await eventually(() => scenario.seen()[0]?.ended === 'client-left', 'the provider was left')
    t.is(scenario.seen().length, 1)
  })

  test(title('gets its own credential and never the caller’s, and no log has either'), async (t) => {
    const scenario = open(always({ kind: 'error', status: 400, message: 'No.' }))
    const reply = await scenario.send(QUESTION, { headers: { authorization: `Bearer ${CALLERS_KEY}` } })
    const [request] = scenario.seen()
    t.true(request !== undefined && subject.isAuthorised(request))
    t.false(JSON.stringify(request?.rawHeaders).includes(CALLERS_KEY))
    for (const text of [gateway.log(), reply.text, JSON.stringify(reply.headers)]) {
      t.false(text.includes(subject.secret))
      t.false(text.includes(CALLERS_KEY))
    }
  })
}

/** Where bytes are relayed unchanged, a page is, too; a translator must notice it. */
for (const { name, open } of subjects.filter(({ name }) => ['openai', 'gemini', 'house'].includes(name))) {
  test(`conformance: ${name} that answers 200 with a page is 502`, async (t) => {
    const scenario = open(always({ kind: 'page' }))
    const { status, json } = await scenario.send(QUESTION)
    t.is(status, 502)
    t.like(json, { error: { type: 'upstream_error' } })
  })
}

test('conformance: /health shows each provider as configured', async (t) => {
  const json = parseJson(await (await fetch(`${gateway.url}/health`)).text())
  t.deepEqual(valueAt(json, 'providers'), Object.fromEntries(subjects.map(({ name }) => [name, true])))
})

for (const { name, open } of impatient.subjects)
  test(`conformance: ${name} that sends nothing is given up, and not retried`, async (t) => {
    const scenario = open(always({ kind: 'hang' }))
    const { status, json } = await scenario.send(QUESTION)
    t.is(status, 502)
    t.like(json, { error: { type: 'upstream_error' } })
    t.is(scenario.seen().length, 1)
  })
