import type { JsonObject } from '../../support/json.ts'

/** A part of a user's message. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'image'; mediaType: 'image/png'; base64: string }
  | { kind: 'image-url'; url: string }
  | { kind: 'pdf'; base64: string; name: string }

/** A tool as its owner describes it. */
export interface ToolSpec {
  name: string
  description: string
  /** A JSON schema of type `object`. */
  schema: JsonObject & { type: 'object' }
}

/** A call as the SDK hands it to the tool's owner: put together and parsed. */
export interface Call {
  id: string
  name: string
  input: unknown
}

/** A result that the owner of a tool returns. */
export interface Result {
  call: Call
  text: string
  /** A PNG as base64, which Messages has a place for beside the text. */
  png?: string
}

/** A whole answer, as the SDK's user has it in the end. */
export interface Answer {
  text: string
  /** Empty where the SDK shows none. */
  reasoning: string
  calls: readonly Call[]
  /** The model's stop reason, in the SDK's term. */
  stopReason: unknown
  /** In tokens; `input` is all that was read, `cached` the part of it that came from a cache. */
  usage: { input: number; cached: number; output: number }
  /** Number of text chunks, one after the other; 0 when the reply came whole. */
  pieces: number
}

/** A conversation in the SDK's own terms: the model's messages are sent back as the SDK keeps them. */
export interface Conversation {
  say(...parts: Part[]): Promise<Answer>
  /** Results of all calls of the last answer. */
  giveResults(results: readonly Result[]): Promise<Answer>
  /** Continues with another model. */
  turnTo(model: string): void
}

/** Options of a conversation. */
export interface ConversationOptions {
  /** The gateway's address, without a path. */
  url: string
  headers: Readonly<Record<string, string>>
  model: string
  mode: 'whole' | 'stream'
  system?: string
  tools?: readonly ToolSpec[]
  /** Longest reply in tokens. Default: the SDK's, or 4096 where it requires one. */
  maxTokens?: number
  /** The schema that the answer is to follow. */
  answerSchema?: JsonObject & { type: 'object' }
  /** Requests reasoning, with a medium effort or a budget of 2048 tokens. */
  reasons?: boolean
  /** Requests a feature that only providers of the SDK's own dialect have: log probabilities, a search on the web. */
  asksOwn?: boolean
  signal?: AbortSignal
  /** Called with each piece of text of a stream. */
  onText?: (piece: string) => void
}

/** The SDK's error for a failure. */
export interface Failure {
  /** The name of the class: `RateLimitError`. */
  kind: string
  status: number | undefined
  message: string
  /** As the SDK reads it to decide when it tries again. */
  retryAfter: string | undefined
}

/** Describes an error that is none of an SDK's own. */
export function strange(error: unknown): Failure {
  return { kind: String(error), status: undefined, message: '', retryAfter: undefined }
}

/** An SDK as its users set it up: only the address and a header are the matrix's. It tries once. */
export interface Client {
  name: ClientName
  dialect: 'messages' | 'chat' | 'responses'
  /** The class of the error for a status. */
  errorOf(status: number): string
  converse(options: ConversationOptions): Conversation
  readFailure(error: unknown): Failure
  /** Returns whether a conversation ended because its user aborted it. */
  isAbort(error: unknown): boolean
}

/** The SDKs: of OpenAI's and the Vercel AI SDK several each, for they speak several dialects. */
export type ClientName =
  | 'anthropic-sdk'
  | 'openai-sdk'
  | 'openai-responses'
  | 'ai-sdk-anthropic'
  | 'ai-sdk-openai'
  | 'ai-sdk-responses'
  | 'ai-sdk-open-responses'

/** Returns the name that both of the official SDKs have for an error with this status. */
export function errorClassOf(status: number): string {
  return status >= 500 ? 'InternalServerError' : (CLASSES[status] ?? 'APIError')
}

const CLASSES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  429: 'RateLimitError',
}
