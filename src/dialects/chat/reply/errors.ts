import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { errorTypeOf } from '../../messages/error-type.ts'
import { providersError, withoutToken } from '../../messages/window-error.ts'
import { listOf, recordOf, stringOf } from './narrow.ts'

/** HTTP statuses of the error codes and types in a stream, which has no status of its own. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['invalid_request_error', 400],
  ['context_length_exceeded', 400],
  ['insufficient_quota', 429],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['service_unavailable_error', 503],
  ['overloaded_error', 529],
  ['timeout_error', 504],
])

const INTERNAL = 500
const FIRST_ERROR = 400
const LONGEST_PLAIN_TEXT = 500
const HTML = /^\s*</

/** The error of a Messages body or event. */
interface MessagesError {
  readonly type: 'error'
  readonly error: { readonly type: string; readonly message: string }
  readonly request_id?: string
}

/** The error of a chat body or chunk. */
interface ChatError {
  readonly type: 'error'
  readonly error: JsonObject & { readonly type: string; readonly message: string }
  readonly request_id?: string
}

/**
 * Converts a chat provider's error body to a Messages error body. Accepts any bytes and never throws; plain text that is
 * no JSON is quoted.
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  const text = body.toString()
  return Buffer.from(JSON.stringify(messagesErrorOf(status, tryParseJson(text) ?? text)))
}

/**
 * Converts a Messages provider's error body to a chat error, which the SDKs of both families can read. Accepts any bytes
 * and never throws. Other members of the error are kept.
 */
export function toChatError(status: number, body: Buffer): Buffer {
  const text = body.toString()
  return Buffer.from(JSON.stringify(chatErrorOf(status, tryParseJson(text) ?? text)))
}

/** Converts a chat provider's error to a Messages error: a body or chunk, or text that is no JSON. */
export function messagesErrorOf(status: number | undefined, data: unknown): MessagesError {
  const body = Array.isArray(data) ? data[0] : data // Gemini's compatible server wraps its error in an array
  const error = recordOf(recordOf(body)?.error)
  const shown = providersError(errorTypeOf(status ?? statusOf(error)), messageOf(status, body))
  return { type: 'error', error: shown, ...requestIdOf(body) }
}

/** Converts a Messages provider's error to a chat error: a body or event, or text that is no JSON. */
export function chatErrorOf(status: number | undefined, body: unknown): ChatError {
  const error = recordOf(recordOf(body)?.error)
  const type = stringOf(error?.type) || errorTypeOf(status ?? INTERNAL)
  const message = withoutToken(messageOf(status, body))
  return { type: 'error', error: { code: null, param: null, ...error, type, message }, ...requestIdOf(body) }
}

/** Returns the status: OpenRouter sends it as `code`, others send a word as `code` or `type`. */
function statusOf(error: JsonObject | undefined): number {
  if (typeof error?.code === 'number' && error.code >= FIRST_ERROR) return error.code
  return STATUSES.get(error?.code) ?? STATUSES.get(error?.type) ?? INTERNAL
}

/** Returns the message, from wherever servers put it: `error.message`, `error`, `message`, FastAPI's `detail`; or plain text. */
function messageOf(status: number | undefined, body: unknown): string {
  const known = isObject(body) ? messageIn(body) : typeof body === 'string' ? plainOf(body) : ''
  return (
    known || (status === undefined ? 'The provider reported an error.' : `The provider answered with status ${status}.`)
  )
}

function messageIn({ error, message, detail }: JsonObject): string {
  const inner = recordOf(error)
  const details = [detail, ...listOf(detail).map((issue) => recordOf(issue)?.msg)].map(stringOf)
  const candidates = [inner?.message, inner?.code, inner?.type, error, message].map(stringOf)
  return [...candidates, details.filter(Boolean).join('; ')].find((text) => text !== '') ?? ''
}

/** Returns plain text; a page of HTML comes from a proxy and is of no use in a message. */
function plainOf(text: string): string {
  return HTML.test(text) ? '' : text.trim().slice(0, LONGEST_PLAIN_TEXT)
}

function requestIdOf(body: unknown): { request_id?: string } {
  const id = recordOf(body)?.request_id
  return typeof id === 'string' ? { request_id: id } : {}
}
