import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { isStepCount, jsonSchema, type LanguageModel, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { Responses } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../support/json.ts'
import type { ClientName, ToolSpec } from './client.ts'
import { withoutParsed } from './openai-responses.ts'

/** A question whose answer needs a tool. */
export interface LoopOptions {
  url: string
  headers: Readonly<Record<string, string>>
  model: string
  question: string
  spec: ToolSpec
  run: (input: unknown) => string
}

const MAX_TOKENS = 4096
const MOST_STEPS = 5

/**
 * Has the SDK itself call the tool, as often as the model asks, and gives the last text. Each streams, which is how
 * agents use these loops.
 */
export const OWN_LOOPS: Readonly<Record<ClientName, (options: LoopOptions) => Promise<string>>> = {
  'anthropic-sdk': runAnthropic,
  'openai-sdk': runOpenai,
  'openai-responses': runResponses,
  'ai-sdk-anthropic': ({ url, headers, model, ...rest }) =>
    runAiSdk(createAnthropic({ apiKey: 'any-string', baseURL: `${url}/v1`, headers })(model), rest),
  'ai-sdk-openai': ({ url, headers, model, ...rest }) =>
    runAiSdk(createOpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, headers }).chat(model), rest),
  'ai-sdk-responses': ({ url, headers, model, ...rest }) =>
    runAiSdk(createOpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, headers })(model), rest),
  'ai-sdk-open-responses': async ({ url, headers, model, ...rest }) => {
    const { openResponsesModel } = await import('../../witnesses/open-responses.ts')
    return runAiSdk(openResponsesModel({ url, headers, model }), rest)
  },
}

async function runAnthropic({ url, headers, model, question, spec, run }: LoopOptions): Promise<string> {
  const client = new Anthropic({ apiKey: 'any-string', baseURL: url, maxRetries: 0, defaultHeaders: headers })
  const { name, description, schema } = spec
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: MAX_TOKENS,
    stream: true,
    messages: [{ role: 'user', content: question }],
    tools: [betaTool({ name, description, inputSchema: schema, run })],
  })
  const { content } = await runner
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
}

async function runOpenai({ url, headers, model, question, spec, run }: LoopOptions): Promise<string> {
  const client = new OpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers })
  const { name, description, schema } = spec
  const runner = client.chat.completions.runTools({
    model,
    stream: true,
    messages: [{ role: 'user', content: question }],
    tools: [
      {
        type: 'function',
        function: { name, description, parameters: schema, parse: JSON.parse, function: (input: object) => run(input) },
      },
    ],
  })
  return (await runner.finalContent()) ?? ''
}

/** The SDK has no loop of its own for Responses: its users write this one. */
async function runResponses({ url, headers, model, question, spec, run }: LoopOptions): Promise<string> {
  const client = new OpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers })
  const { name, description, schema: parameters } = spec
  const tools = [{ type: 'function', name, description, parameters, strict: false } as const]
  const input: Responses.ResponseInputItem[] = [{ role: 'user', content: question }]
  for (let step = 0; step < MOST_STEPS; step++) {
    const { output, output_text: text } = await client.responses.stream({ model, tools, input }).finalResponse()
    const calls = output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return text
    input.push(...output.map(withoutParsed))
    for (const { call_id, arguments: json } of calls)
      input.push({ type: 'function_call_output', call_id, output: run(JSON.parse(json)) })
  }
  return ''
}

type Task = Pick<LoopOptions, 'question' | 'spec' | 'run'>

async function runAiSdk(model: LanguageModel, { question, spec, run }: Task): Promise<string> {
  const { name, description, schema } = spec
  const inputSchema = jsonSchema<JsonObject>(schema)
  const { finalStep } = streamText({
    model,
    maxRetries: 0,
    prompt: question,
    // For OpenAI's provider: without it, it sends references to items that only OpenAI has stored.
    providerOptions: { openai: { store: false } },
    stopWhen: isStepCount(MOST_STEPS),
    tools: { [name]: tool({ description, inputSchema, execute: async (input) => run(input) }) },
  })
  return (await finalStep).text
}
