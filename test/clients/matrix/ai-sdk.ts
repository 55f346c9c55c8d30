import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  type ToolResultPart,
  type ToolSet,
} from 'ai'
import type { JsonObject } from '../../support/json.ts'
import {
  type Answer,
  type Client,
  type Conversation,
  type ConversationOptions,
  type Part,
  type Result,
  strange,
  type ToolSpec,
} from './client.ts'

// It warns of models that it does not know; users of a gateway see that once and turn it off.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const BUDGET_TOKENS = 2048

/** Vercel's AI SDK with its provider for Anthropic. */
export const aiSdkAnthropic: Client = {
  ...toClient(({ url, headers, model }) => {
    const provider = createAnthropic({ apiKey: 'any-string', baseURL: `${url}/v1`, headers })
    return { model: provider(model), search: { web_search: provider.tools.webSearch_20250305({}) } }
  }),
  name: 'ai-sdk-anthropic',
  dialect: 'messages',
}

/** Vercel's AI SDK with its provider for OpenAI, which speaks Responses by default. */
export const aiSdkResponses: Client = {
  ...toClient(({ url, headers, model, reasons }) => {
    const provider = createOpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, headers })
    // It takes an effort only for models that it knows by name; `store` is for conversations without stored items.
    const reasoning = reasons ? { forceReasoning: true, reasoningSummary: 'auto' } : {}
    return { model: provider(model), search: {}, options: { store: false, ...reasoning } }
  }),
  name: 'ai-sdk-responses',
  dialect: 'responses',
}

/** Vercel's AI SDK with its provider for OpenAI, speaking chat completions. */
export const aiSdkOpenai: Client = {
  ...toClient(({ url, headers, model }) => {
    const provider = createOpenAI({ apiKey: 'any-string', baseURL: `${url}/v1`, headers })
    return { model: provider.chat(model), search: {} }
  }),
  name: 'ai-sdk-openai',
  dialect: 'chat',
}

/** A model of one of the AI SDK's providers. */
interface AiSdkModel {
  readonly model: LanguageModel
  /** The provider's own tool, for the feature that only its dialect has. */
  readonly search: ToolSet
  /** Further options of OpenAI's provider. */
  readonly options?: JsonObject
}

type CreateModel = (options: ConversationOptions) => AiSdkModel
type Settings = ReturnType<typeof toFields> & { model: LanguageModel; messages: ModelMessage[] }

/** Returns the client that converses by models of `create`. */
export function toClient(create: CreateModel): Omit<Client, 'name' | 'dialect'> {
  return {
    errorOf: () => 'AI_APICallError',
    converse: (options) => converse(options, create),
    readFailure(error) {
      if (!APICallError.isInstance(error)) return strange(error)
      const retryAfter = error.responseHeaders?.['retry-after']
      return { kind: error.name, status: error.statusCode, message: error.message, retryAfter }
    },
    isAbort: (error) => error instanceof DOMException && error.name === 'AbortError',
  }
}

function converse(options: ConversationOptions, create: CreateModel): Conversation {
  const { model: first, ...own } = create(options)
  let model = first
  const messages: ModelMessage[] = []
  const ask = async (added: ModelMessage) => {
    messages.push(added)
    const { answer, kept } = await send({ model, messages, ...toFields(options, own) }, options)
    messages.push(...kept)
    return answer
  }
  return {
    say: (...parts) => ask({ role: 'user', content: parts.map(toPart) }),
    giveResults: (results) => ask({ role: 'tool', content: results.map(toResult) }),
    turnTo(next) {
      model = create({ ...options, model: next }).model
    },
  }
}

async function send(settings: Settings, { mode, onText }: ConversationOptions) {
  if (mode === 'whole') {
    const { finalStep, responseMessages } = await generateText(settings)
    return { answer: toAnswer(finalStep, 0), kept: responseMessages }
  }
  const result = streamText({ ...settings, onError: () => {} })
  let pieces = 0
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') throw new DOMException(part.reason, 'AbortError')
    if (part.type !== 'text-delta') continue
    pieces++
    onText?.(part.text)
  }
  return { answer: toAnswer(await result.finalStep, pieces), kept: await result.responseMessages }
}

/** Members of the SDK's last step that are read. */
interface Step {
  text: string
  reasoningText: string | undefined
  toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[]
  finishReason: string
  usage: {
    inputTokens: number | undefined
    inputTokenDetails: { cacheReadTokens: number | undefined }
    outputTokens: number | undefined
  }
}

function toAnswer({ text, reasoningText, toolCalls, finishReason, usage }: Step, pieces: number): Answer {
  return {
    text,
    reasoning: reasoningText ?? '',
    calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    stopReason: finishReason,
    usage: {
      input: usage.inputTokens ?? 0,
      cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
      output: usage.outputTokens ?? 0,
    },
    pieces,
  }
}

function toFields(options: ConversationOptions, { search, options: more }: Omit<AiSdkModel, 'model'>) {
  const { system, tools = [], reasons, asksOwn, signal, maxTokens, answerSchema } = options
  const own: ToolSet = Object.fromEntries(tools.map((spec) => [spec.name, toTool(spec)]))
  const thinking = reasons ? { thinking: { type: 'enabled', budgetTokens: BUDGET_TOKENS } } : {}
  const effort = reasons ? { reasoningEffort: 'medium' } : {}
  return {
    maxRetries: 0,
    // Of models that it does not know by name it would send a schema as a tool that must be called.
    tools: asksOwn ? { ...own, ...search } : own,
    providerOptions: {
      anthropic: { ...thinking, structuredOutputMode: 'outputFormat' },
      openai: { ...effort, ...(asksOwn && { logprobs: true }), ...more },
    },
    ...(system !== undefined && { instructions: system }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(answerSchema && { output: Output.object({ schema: jsonSchema<JsonObject>(answerSchema) }) }),
    ...(signal !== undefined && { abortSignal: signal }),
  }
}

/** Converts a tool. Without `execute` the SDK leaves calls to its user. */
function toTool({ description, schema }: ToolSpec): ToolSet[string] {
  return { description, inputSchema: jsonSchema<JsonObject>(schema) }
}

function toResult({ call: { id, name }, text, png }: Result): ToolResultPart {
  const named = { type: 'tool-result', toolCallId: id, toolName: name } as const
  if (png === undefined) return { ...named, output: { type: 'text', value: text } }
  const image = { type: 'file', data: { type: 'data', data: png }, mediaType: 'image/png' } as const
  return { ...named, output: { type: 'content', value: [{ type: 'text', text }, image] } }
}

function toPart(part: Part) {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text } as const
    case 'image':
      return { type: 'file', data: part.base64, mediaType: part.mediaType } as const
    case 'image-url':
      return { type: 'file', data: new URL(part.url), mediaType: 'image/png' } as const
    case 'pdf':
      return { type: 'file', data: part.base64, mediaType: 'application/pdf', filename: part.name } as const
    default:
      return part satisfies never
  }
}
