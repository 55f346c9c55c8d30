import { Agent, OpenAIProvider, Runner, type StreamedRunResult, tool } from '@openai/agents'
import test from 'ava'
import OpenAI from 'openai'
import { z } from 'zod'
import { hear } from '../clients/matrix/heard.ts'
import { refuses, type Said, says } from '../clients/matrix/said.ts'
import {
  MODELS,
  openProviderFixture,
  PROVIDERS,
  type ProviderName,
  type ProviderScenario,
} from '../support/provider-fixture.ts'
import { runPrograms } from './programs.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'none' } })
test.after.always(() => fixture.close())

const LONG = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
const WEATHER = { name: 'weather', input: { city: 'Köln' } }

/** Models that reason, or sign their thoughts, where the common one does not. */
const THINKERS: Partial<Record<ProviderName, string>> = {
  openai: 'openai/gpt-5',
  gemini: 'gemini/gemini-3-pro-preview',
}

/** Returns a runner of OpenAI's Agents SDK that calls the gateway. */
function runnerOf({ headers }: ProviderScenario): Runner {
  const baseURL = `${fixture.gateway.url}/v1`
  const openAIClient = new OpenAI({ apiKey: 'any', baseURL, maxRetries: 0, defaultHeaders: headers })
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }), tracingDisabled: true })
}

for (const provider of [...PROVIDERS, 'responder' as const]) {
  const cell = `agents: @openai/agents → ${provider}`
  const model = MODELS[provider]
  const open = (turns: readonly Said[]) => {
    const scenario = fixture.scenario(says(provider, turns))
    return { runner: runnerOf(scenario), seen: () => scenario.seen(provider) }
  }

  test(`${cell}: a run has its text and usage`, async (t) => {
    const usage = { input: 9, cached: 4, output: 3 }
    const { runner } = open([{ text: 'Hello.', usage }])
    const { finalOutput, state } = await runner.run(new Agent({ name: 'Greeter', model, instructions: 'Greet.' }), 'Hi')
    t.is(finalOutput, 'Hello.')
    t.like(state.usage, { inputTokens: 9, outputTokens: 3, totalTokens: 12 })
  })

  test(`${cell}: a run is streamed in pieces`, async (t) => {
    const { runner } = open([{ text: LONG }])
    const result = await runner.run(new Agent({ name: 'Teller', model }), 'Tell.', { stream: true })
    const pieces = await piecesOf(result)
    t.is(pieces.join(''), LONG)
    t.true(pieces.length > 2)
    t.is(result.finalOutput, LONG)
  })

  for (const mode of ['whole', 'stream'] as const) {
    test(`${cell}: a run calls its tool as often as the model asks (${mode})`, async (t) => {
      const { runner, seen } = open([
        { text: 'I look.', calls: [WEATHER, WEATHER] },
        { calls: [WEATHER] },
        { text: 'Rain.' },
      ])
      const inputs: object[] = []
      const weather = tool({
        name: 'weather',
        description: 'Weather of a city.',
        parameters: z.object({ city: z.string() }),
        execute: (input) => `rain ${inputs.push(input)}`,
      })
      const agent = new Agent({ name: 'Forecaster', model, tools: [weather] })
      t.is(await outputOf(runner, agent, mode), 'Rain.')
      t.deepEqual(inputs, [WEATHER.input, WEATHER.input, WEATHER.input])
      t.is(seen().length, 3)
    })

    test(`${cell}: a run is handed off to another agent (${mode})`, async (t) => {
      const { runner, seen } = open([{ calls: [{ name: 'transfer_to_Poet', input: {} }] }, { text: 'A rose.' }])
      const poet = new Agent({ name: 'Poet', model, instructions: 'Rhyme.' })
      const agent = new Agent({ name: 'Clerk', model, handoffs: [poet] })
      t.is(await outputOf(runner, agent, mode), 'A rose.')
      t.true(seen()[1]?.raw.includes('Rhyme.'))
    })
  }

  test(`${cell}: an answer of a type is parsed`, async (t) => {
    const { runner } = open([{ text: '{"city":"Köln"}' }])
    const agent = new Agent({ name: 'Guide', model, outputType: z.object({ city: z.string() }) })
    t.deepEqual((await runner.run(agent, 'Where?')).finalOutput, { city: 'Köln' })
  })

  test(`${cell}: reasoning comes back to the model with the results of its calls`, async (t) => {
    const reasoning = provider === 'openai' ? {} : { reasoning: 'Hm.' }
    const { runner, seen } = open([
      { ...reasoning, calls: [WEATHER] },
      { ...reasoning, text: 'Rain.' },
    ])
    const parameters = z.object({ city: z.string() })
    const weather = tool({ name: 'weather', description: 'Weather.', parameters, execute: () => 'rain' })
    const modelSettings = { store: false, reasoning: { effort: 'medium', summary: 'auto' } }
    const include = { providerData: { include: ['reasoning.encrypted_content'] } }
    const agent = new Agent({
      name: 'Thinker',
      model: THINKERS[provider] ?? model,
      tools: [weather],
      modelSettings: { ...modelSettings, ...include },
    })
    t.is((await runner.run(agent, 'Weather?')).finalOutput, 'Rain.')
    t.is(hear(provider, seen()[1]).thoughts.length, provider === 'openai' ? 0 : 1)
  })

  test(`${cell}: a refusal is its SDK’s error`, async (t) => {
    const runner = runnerOf(fixture.scenario(refuses(provider, { status: 429, message: 'Too much' })))
    const error = await t.throwsAsync(runner.run(new Agent({ name: 'Greeter', model }), 'Hi'))
    t.like(error, { status: 429 })
    t.true(error?.message.includes('Too much'))
  })

  test(`${cell}: an aborted stream ends the provider’s`, async (t) => {
    const { runner, seen } = open([{ text: LONG, isStuck: true }])
    const leaving = new AbortController()
    const result = await runner.run(new Agent({ name: 'Teller', model }), 'Tell.', {
      stream: true,
      signal: leaving.signal,
    })
    for await (const _ of result.toTextStream()) leaving.abort()
    t.is(await seen()[0]?.closed, 'client-left')
  })
}

async function outputOf(runner: Runner, agent: Agent, mode: 'whole' | 'stream'): Promise<unknown> {
  if (mode === 'whole') return (await runner.run(agent, 'Go.')).finalOutput
  const result = await runner.run(agent, 'Go.', { stream: true })
  await piecesOf(result)
  return result.finalOutput
}

async function piecesOf(result: StreamedRunResult): Promise<string[]> {
  const pieces: string[] = []
  for await (const piece of result.toTextStream()) pieces.push(piece)
  await result.completed
  return pieces
}

test('docs: the programs for agents run as written', async (t) => {
  const printed = await runPrograms('docs/clients/agents.md', fixture.gateway.url)
  t.is(printed.length, 2)
  for (const text of printed) t.regex(text, /\S/)
})
