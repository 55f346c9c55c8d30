import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import test from 'ava'
import { z } from 'zod'
import { refuses, type Said, says } from '../clients/matrix/said.ts'
import { MODELS, openProviderFixture, PROVIDERS, type ProviderScenario } from '../support/provider-fixture.ts'

// Otherwise it reports its use to its vendor.
process.env.MASTRA_TELEMETRY_DISABLED = '1'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'none' } })
test.after.always(() => fixture.close())

const LONG = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
const WEATHER = { name: 'weather', input: { city: 'Köln' } }
const weatherTool = (execute: (input: object) => Promise<object>) =>
  createTool({
    id: 'weather',
    description: 'Weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute,
  })
/** Mastra takes the AI SDK's models; OpenAI's provider would refer to stored items without this. */
const OPTIONS = { providerOptions: { openai: { store: false } }, modelSettings: { maxRetries: 0 } }

for (const provider of [...PROVIDERS, 'responder' as const]) {
  const cell = `mastra: @mastra/core → ${provider}`
  const agentOf = ({ headers }: ProviderScenario, tools: Readonly<Record<string, object>> = {}) => {
    const model = createOpenAI({ apiKey: 'any', baseURL: `${fixture.gateway.url}/v1`, headers })(MODELS[provider])
    return new Agent({ id: 'guide', name: 'Guide', instructions: 'Be brief.', model, tools })
  }
  const open = (turns: readonly Said[], tools?: Readonly<Record<string, object>>) => {
    const scenario = fixture.scenario(says(provider, turns))
    return { agent: agentOf(scenario, tools), seen: () => scenario.seen(provider) }
  }

  test(`${cell}: a reply has its text and usage`, async (t) => {
    const { agent } = open([{ text: 'Hello.', usage: { input: 9, cached: 4, output: 3 } }])
    const { text, usage } = await agent.generate('Hi', OPTIONS)
    t.is(text, 'Hello.')
    t.like(usage, { inputTokens: 9, cachedInputTokens: 4, outputTokens: 3 })
  })

  test(`${cell}: a stream arrives in pieces`, async (t) => {
    const pieces: string[] = []
    for await (const piece of (await open([{ text: LONG }]).agent.stream('Hi', OPTIONS)).textStream) pieces.push(piece)
    t.is(pieces.join(''), LONG)
    t.true(pieces.length > 2)
  })

  for (const mode of ['whole', 'stream'] as const) {
    test(`${cell}: an agent calls its tool as often as the model asks (${mode})`, async (t) => {
      const inputs: object[] = []
      const tool = weatherTool(async (input) => ({ rain: inputs.push(input) }))
      const turns = [{ text: 'I look.', calls: [WEATHER, WEATHER] }, { calls: [WEATHER] }, { text: 'Rain.' }]
      const { agent, seen } = open(turns, { weather: tool })
      const text = mode === 'whole' ? (await agent.generate('Go.', OPTIONS)).text : await streamed(agent)
      t.true(text.endsWith('Rain.'), text)
      t.deepEqual(inputs, [WEATHER.input, WEATHER.input, WEATHER.input])
      t.is(seen().length, 3)
    })
  }

  test(`${cell}: a structured answer is parsed`, async (t) => {
    const { agent } = open([{ text: '{"city":"Köln"}' }])
    const schema = z.object({ city: z.string() })
    t.deepEqual((await agent.generate('Where?', { ...OPTIONS, structuredOutput: { schema } })).object, { city: 'Köln' })
  })

  test(`${cell}: a refusal is its SDK’s error`, async (t) => {
    const agent = agentOf(fixture.scenario(refuses(provider, { status: 429, message: 'Too much' })))
    const error = await t.throwsAsync(agent.generate('Hi', OPTIONS), { any: true })
    t.regex(String(error), /Too much/)
  })

  test(`${cell}: an aborted stream ends the provider’s`, async (t) => {
    const { agent, seen } = open([{ text: LONG, isStuck: true }])
    const leaving = new AbortController()
    const { textStream } = await agent.stream('Hi', { ...OPTIONS, abortSignal: leaving.signal })
    for await (const _ of textStream) leaving.abort()
    t.is(await seen()[0]?.closed, 'client-left')
  })
}

async function streamed(agent: Agent): Promise<string> {
  let text = ''
  for await (const piece of (await agent.stream('Go.', OPTIONS)).textStream) text += piece
  return text
}
