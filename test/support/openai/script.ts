import type { JsonObject } from '../json.ts'
import type {
  BreakScript,
  Delivery,
  ErrorScript,
  GarbageScript,
  HangScript,
  ReplyScript,
  SseScript,
} from '../provider/script.ts'

/** Flavour of the stand-in: OpenAI itself, or a server that is compatible with it, like vLLM. */
export type Flavour = 'openai' | 'compatible'

/** A tool call of a scripted reply. Without an id it gets one that is the same on every run. */
export interface ScriptedCall {
  id?: string
  name: string
  /** Exact text in the reply; it need not be JSON, as a model's need not. */
  arguments: string
}

/** The default reply of the route; for chat completions with the given parts of the message. */
export interface ChatAnswerScript extends Delivery {
  kind: 'answer'
  /** The whole reply text. Default: built from the last user text, or none with tool calls or a refusal. */
  text?: string
  toolCalls?: readonly ScriptedCall[]
  /** Reasoning text, which only compatible servers send. */
  reasoning?: string
  /** The member that carries it. Default `reasoning_content`. */
  reasoningField?: 'reasoning_content' | 'reasoning'
  refusal?: string
  annotations?: readonly JsonObject[]
  finishReason?: string
  /** Members that replace those of the default `usage`; `total_tokens` follows them. */
  usage?: JsonObject
  /** Streams the arguments of parallel calls in turns instead of one call after the other. */
  interleaved?: boolean
  headers?: Readonly<Record<string, string>>
}

/** An error in the server's shape, e.g. status 429. */
export interface ChatErrorScript extends ErrorScript {
  /** Default: the provider's code for the status, which may be null. */
  code?: string
  param?: string
}

/** The scripts that end in a reply of whole bytes. */
export type ChatPayloadScript = ChatAnswerScript | ReplyScript | SseScript | ChatErrorScript

/** Behaviour of the stand-in for one request. */
export type ChatScript = ChatPayloadScript | BreakScript | HangScript | GarbageScript
