import type { JsonObject } from '../../../core/json/json-value.ts'
import { recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { isWindowExceeded, withoutToken } from '../../messages/window-error.ts'

/** Reasons why a response is incomplete, by the stop reason. */
const INCOMPLETE: ReadonlyMap<unknown, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  // A limit of the provider's own: the turn ended in the middle of its searches, without an answer.
  ['pause_turn', 'max_output_tokens'],
  ['refusal', 'content_filter'],
])

/** Returns the reason why a response with this stop reason is incomplete; `undefined` when it is complete. */
export function incompleteReasonOf(stopReason: unknown): string | undefined {
  return INCOMPLETE.get(stopReason)
}

/** Codes of errors by their type in the Messages shape. Source: those that Codex acts on, and OpenAI's SDK. */
const CODES: ReadonlyMap<unknown, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['overloaded_error', 'server_is_overloaded'],
  ['billing_error', 'insufficient_quota'],
  ['invalid_request_error', 'invalid_prompt'],
])

/** The error of a stream. */
export interface StreamError {
  readonly type: string
  readonly code: string
  readonly message: string
}

/** Reads the error event of a Messages stream. */
export function streamErrorOf(event: JsonObject): StreamError {
  const error = recordOf(event.error)
  const type = stringOf(error?.type) || 'api_error'
  const message = withoutToken(stringOf(error?.message)) || 'The provider reported an error.'
  return { type, code: codeOf(type, message) ?? 'server_error', message }
}

/** Returns the code of an error with this type in the Messages shape; `undefined` where there is none that clients act on. */
export function codeOf(type: string, message: string): string | undefined {
  return isWindowExceeded(message) ? 'context_length_exceeded' : CODES.get(type)
}
