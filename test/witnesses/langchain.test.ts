import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import test from 'ava'
import { refuses, type Said, says } from '../clients/matrix/said.ts'
import { MODELS, openProviderFixture, PROVIDERS, type ProviderName } from '../support/provider-fixture.ts'
import { runPrograms } from './programs.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'none' } })
test.after.always(() => fixture.close())

type CreateModel = (model: string, headers: Readonly<Record<string, string>>) => BaseChatModel

const MODEL_CLASSES: Readonly<Record<string, CreateModel>> = {
  ChatAnthropic: (model, defaultHeaders) =>
    new ChatAnthropic({
      model,
      anthropicApiUrl: fixture.gateway.url,
      apiKey: 'any',
      maxRetries: 0,
      clientOptions: { defaultHeaders },
    }),
  ChatOpenAI: (model, defaultHeaders) =>
    new ChatOpenAI({
      model,
      apiKey: 'any',
      maxRetries: 0,
      configuration: { baseURL: `${fixture.gateway.url}/v1`, defaultHeaders },
    }),
  'ChatOpenAI with Responses': (model, defaultHeaders) =>
    new ChatOpenAI({
      model,
      apiKey: 'any',
      maxRetries: 0,
      useResponsesApi: true,
      zdrEnabled: true,
      configuration: { baseURL: `${fixture.gateway.url}/v1`, defaultHeaders },
    }),
}

const LONG = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
const WEATHER = { name: 'weather', input: { city: 'Köln' } }
const PLACE = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const WEATHER_TOOL = { name: 'weather', description: 'Weather of a city.', schema: PLACE }

for (const [name, create] of Object.entries(MODEL_CLASSES)) {
  for (const provider of PROVIDERS) {
    const open = (turns: readonly Said[]) => {
      const scenario = fixture.scenario(says(provider, turns))
      return { model: create(MODELS[provider], scenario.headers), seen: () => scenario.seen(provider) }
    }
    declareTests(`langchain: ${name} → ${provider}`, { provider, create, open })
  }
}

interface Cell {
  readonly provider: ProviderName
  readonly create: CreateModel
  readonly open: (turns: readonly Said[]) => {
    model: BaseChatModel
    seen: () => readonly { closed: Promise<unknown> }[]
  }
}

function declareTests(cell: string, { provider, create, open }: Cell): void {
  test(`${cell}: a reply has its text and usage`, async (t) => {
    const usage = { input: 9, cached: 4, output: 3 }
    const { text, usage_metadata } = await open([{ text: 'Hello.', usage }]).model.invoke('Hi')
    t.is(text, 'Hello.')
    t.like(usage_metadata, { input_tokens: 9, output_tokens: 3, input_token_details: { cache_read: 4 } })
  })

  test(`${cell}: a stream arrives in pieces`, async (t) => {
    const pieces: string[] = []
    for await (const { text } of await open([{ text: LONG }]).model.stream('Hi')) pieces.push(text)
    t.is(pieces.join(''), LONG)
    t.true(pieces.length > 2)
  })

  test(`${cell}: a tool is called and its result given back`, async (t) => {
    const { model } = open([{ text: 'Let me look.', calls: [WEATHER] }, { text: 'Rain.' }])
    const question = new HumanMessage('What is the weather?')
    const called = await model.bindTools([WEATHER_TOOL]).invoke([question])
    t.like(called.tool_calls[0], { name: WEATHER.name, args: WEATHER.input })
    const result = new ToolMessage({ content: 'It rains.', tool_call_id: String(called.tool_calls[0]?.id) })
    const answer = await model.bindTools([WEATHER_TOOL]).invoke([question, called, result])
    t.is(answer.text, 'Rain.')
  })

  test(`${cell}: a structured answer is parsed`, async (t) => {
    const { model } = open([{ text: '{"city":"Köln"}' }])
    const structured = model.withStructuredOutput({ title: 'place', ...PLACE }, { method: 'jsonSchema' })
    t.deepEqual(await structured.invoke('Where?'), { city: 'Köln' })
  })

  test(`${cell}: a refusal is its SDK’s error`, async (t) => {
    const { headers } = fixture.scenario(refuses(provider, { status: 429, message: 'Too much' }))
    const error = await t.throwsAsync(create(MODELS[provider], headers).invoke('Hi'))
    t.like(error, { status: 429 })
    t.true(error?.message.includes('Too much'))
  })

  test(`${cell}: an aborted stream ends the provider’s`, async (t) => {
    const { model, seen } = open([{ text: LONG, isStuck: true }])
    const leaving = new AbortController()
    const reading = async () => {
      for await (const _ of await model.stream('Hi', { signal: leaving.signal })) leaving.abort()
    }
    await t.throwsAsync(reading())
    t.is(await seen()[0]?.closed, 'client-left')
  })
}

test('docs: the program for LangChain runs as written', async (t) => {
  const [printed] = await runPrograms('docs/clients/langchain.md', fixture.gateway.url)
  t.regex(String(printed), /\S+\n\S+/)
})
