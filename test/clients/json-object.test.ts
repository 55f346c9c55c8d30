import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, jsonSchema, streamObject } from 'ai'
import test from 'ava'
import OpenAI from 'openai'
import { valueAt } from '../support/json.ts'
import { openProviderStage } from '../support/provider-stage.ts'

const stage = await openProviderStage({ config: { providers: { tries: 1 } } })
test.after.always(() => stage.close())

const PERSON = { name: 'Ada', age: 36 }
const answering = () => stage.scene({ anthropic: { kind: 'answer', text: JSON.stringify(PERSON) } })
const INSTRUCTION = /one JSON object and nothing else/
const model = 'claude-sonnet-4-5'
const baseURL = `${stage.gateway.url}/v1`
type Scene = ReturnType<typeof answering>

const sentTo = (scene: Scene) => scene.seen('anthropic')[0]?.json
const openai = (scene: Scene) => new OpenAI({ baseURL, apiKey: 'any', maxRetries: 0, defaultHeaders: scene.headers })
/** As a client of a service that has no schemas: what Instructor's JSON mode sends. */
const asJson = { model, response_format: { type: 'json_object' } } as const
const messages = [
  { role: 'system', content: 'Extract the person as JSON.' },
  { role: 'user', content: 'Ada is 36.' },
] as const

test('json_object: the openai package has an object from Claude, by an instruction at the end of system', async (t) => {
  const scene = answering()
  const completion = await openai(scene).chat.completions.create({ ...asJson, messages: [...messages] })
  t.deepEqual(JSON.parse(completion.choices[0]?.message.content ?? ''), PERSON)
  const body = sentTo(scene)
  t.regex(JSON.stringify(valueAt(body, 'system')), /Extract the person as JSON\..*one JSON object and nothing else/)
  t.is(valueAt(body, 'output_config'), undefined)
  t.is(scene.seen('anthropic')[0]?.refused, undefined)
})

test('json_object: the openai package streams an object from Claude', async (t) => {
  const scene = answering()
  const stream = await openai(scene).chat.completions.create({ ...asJson, stream: true, messages: [...messages] })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  t.deepEqual(JSON.parse(text), PERSON)
})

test('json_object: without a system message the instruction is the system', async (t) => {
  const scene = answering()
  await openai(scene).chat.completions.create({ ...asJson, messages: [messages[1]] })
  t.regex(String(valueAt(sentTo(scene), 'system')), INSTRUCTION)
})

test('json_object: effort stays beside it', async (t) => {
  const scene = answering()
  const reasoning = { model: 'claude-opus-4-8', reasoning_effort: 'low' } as const
  await openai(scene).chat.completions.create({ ...asJson, ...reasoning, messages: [...messages] })
  t.is(valueAt(sentTo(scene), 'output_config.format'), undefined)
  t.regex(JSON.stringify(valueAt(sentTo(scene), 'system')), INSTRUCTION)
})

const schema = jsonSchema<typeof PERSON>({
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
})
/** The AI SDK's chat client, which requests `json_object` where it is given no schema. */
const chatModel = (scene: Scene) => createOpenAI({ baseURL, apiKey: 'any', headers: scene.headers }).chat(model)

test('json_object: generateObject without a schema has an object from Claude', async (t) => {
  const scene = answering()
  const { object } = await generateObject({ model: chatModel(scene), output: 'no-schema', prompt: 'Ada is 36. JSON.' })
  t.deepEqual(object, PERSON)
  t.regex(JSON.stringify(valueAt(sentTo(scene), 'system')), INSTRUCTION)
})

test('json_object: generateObject and streamObject with a schema have one, too', async (t) => {
  const { object } = await generateObject({ model: chatModel(answering()), schema, prompt: 'Ada is 36.' })
  t.deepEqual(object, PERSON)
  const streamed = streamObject({ model: chatModel(answering()), schema, prompt: 'Ada is 36.' })
  let last: unknown
  for await (const partial of streamed.partialObjectStream) last = partial
  t.deepEqual(last, PERSON)
})
