import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, jsonSchema, streamObject } from 'ai'
import test from 'ava'
import OpenAI from 'openai'
import { valueAt } from '../support/json.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const PERSON = { name: 'Ada', age: 36 }
const answering = () => fixture.scenario({ anthropic: { kind: 'answer', text: JSON.stringify(PERSON) } })
const INSTRUCTION = /one JSON object and nothing else/
const model = 'claude-sonnet-4-5'
const baseURL = `${fixture.gateway.url}/v1`
type Scenario = ReturnType<typeof answering>

const sentTo = (scenario: Scenario) => scenario.seen('anthropic')[0]?.json
const openai = (scenario: Scenario) =>
  new OpenAI({ baseURL, apiKey: 'any', maxRetries: 0, defaultHeaders: scenario.headers })
/** As a client of a service that has no schemas: what Instructor's JSON mode sends. */
const asJson = { model, response_format: { type: 'json_object' } } as const
const messages = [
  { role: 'system', content: 'Extract the person as JSON.' },
  { role: 'user', content: 'Ada is 36.' },
] as const

test('json_object: the openai package has an object from Claude, by an instruction at the end of system', async (t) => {
  const scenario = answering()
  const completion = await openai(scenario).chat.completions.create({ ...asJson, messages: [...messages] })
  t.deepEqual(JSON.parse(completion.choices[0]?.message.content ?? ''), PERSON)
  const body = sentTo(scenario)
  t.regex(JSON.stringify(valueAt(body, 'system')), /Extract the person as JSON\..*one JSON object and nothing else/)
  t.is(valueAt(body, 'output_config'), undefined)
  t.is(scenario.seen('anthropic')[0]?.refused, undefined)
})

test('json_object: the openai package streams an object from Claude', async (t) => {
  const scenario = answering()
  const stream = await openai(scenario).chat.completions.create({ ...asJson, stream: true, messages: [...messages] })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  t.deepEqual(JSON.parse(text), PERSON)
})

test('json_object: without a system message the instruction is the system', async (t) => {
  const scenario = answering()
  await openai(scenario).chat.completions.create({ ...asJson, messages: [messages[1]] })
  t.regex(String(valueAt(sentTo(scenario), 'system')), INSTRUCTION)
})

test('json_object: effort stays beside it', async (t) => {
  const scenario = answering()
  const reasoning = { model: 'claude-opus-4-8', reasoning_effort: 'low' } as const
  await openai(scenario).chat.completions.create({ ...asJson, ...reasoning, messages: [...messages] })
  t.is(valueAt(sentTo(scenario), 'output_config.format'), undefined)
  t.regex(JSON.stringify(valueAt(sentTo(scenario), 'system')), INSTRUCTION)
})

const schema = jsonSchema<typeof PERSON>({
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
})
/** The AI SDK's chat client, which requests `json_object` where it is given no schema. */
const chatModel = (scenario: Scenario) =>
  createOpenAI({ baseURL, apiKey: 'any', headers: scenario.headers }).chat(model)

test('json_object: generateObject without a schema has an object from Claude', async (t) => {
  const scenario = answering()
  const { object } = await generateObject({
    model: chatModel(scenario),
    output: 'no-schema',
    prompt: 'Ada is 36. JSON.',
  })
  t.deepEqual(object, PERSON)
  t.regex(JSON.stringify(valueAt(sentTo(scenario), 'system')), INSTRUCTION)
})

test('json_object: generateObject and streamObject with a schema have one, too', async (t) => {
  const { object } = await generateObject({ model: chatModel(answering()), schema, prompt: 'Ada is 36.' })
  t.deepEqual(object, PERSON)
  const streamed = streamObject({ model: chatModel(answering()), schema, prompt: 'Ada is 36.' })
  let last: unknown
  for await (const partial of streamed.partialObjectStream) last = partial
  t.deepEqual(last, PERSON)
})
