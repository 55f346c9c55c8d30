import type { JsonObject } from '../json.ts'
import type { BreakScript, Delivery, GarbageScript, HangScript, ReplyScript, SseScript } from '../provider/script.ts'

/** The default reply of the route; of `generateContent` with the given parts. */
export interface GeminiAnswerScript extends Delivery {
  kind: 'answer'
  /** The whole reply text. Default: built from the last user text. */
  text?: string
  /** All parts, instead of `text`; see `thought`, `call` and `calls` for making them. */
  parts?: readonly JsonObject[]
  finishReason?: string
  /** Members of `usageMetadata` besides the counts, or in their place. */
  usage?: JsonObject
  /** Blocks the prompt for this reason; there is no candidate. */
  blockReason?: string
  /** Leaves out the signatures that a model of generation 3 makes. */
  isUnsigned?: boolean
  headers?: Readonly<Record<string, string>>
}

/** An error in Google's shape. */
export interface GeminiErrorScript extends Delivery {
  kind: 'error'
  status: number
  /** Default: Google's word for the status. */
  type?: string
  message?: string
  reason?: string
  headers?: Readonly<Record<string, string>>
}

/** Behaviour of the stand-in for one request. */
export type GeminiScript =
  | GeminiAnswerScript
  | GeminiErrorScript
  | ReplyScript
  | SseScript
  | BreakScript
  | HangScript
  | GarbageScript

/** Builds a part with a summary of thoughts. */
export function thought(text: string): JsonObject {
  return { text, thought: true }
}

/** Builds a part with a call of a function. */
export function call(name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { functionCall: { name, args }, ...more }
}

const SIGNATURE_WORD = 'thought-signature-'

/** Makes a signature that the stand-in accepts; `n` distinguishes them. */
export function signatureOf(n: number | string): string {
  return Buffer.from(`${SIGNATURE_WORD}${n}`).toString('base64')
}

/** Returns whether a signature is one of the stand-in's, or the documented one that skips the check. */
export function isKnownSignature(signature: unknown): boolean {
  if (signature === 'skip_thought_signature_validator') return true
  return typeof signature === 'string' && Buffer.from(signature, 'base64').toString().startsWith(SIGNATURE_WORD)
}
