import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorOptions } from '../core/errors.ts'
import { isObject, tryParseJson } from '../core/json/json-value.ts'
import { hideSecrets } from '../core/secrets.ts'

/** A provider's description of a failed try. */
export interface FailedReply {
  readonly status: number
  readonly type: string | null
  readonly requestId: string | null
  /** The provider's value; unset when there is none or it is unreadable. */
  readonly retryAfter: string | undefined
}

/**
 * Matches seconds and HTTP dates, of which each form begins with the day's name. `Number` and `Date.parse` read more:
 * an empty text is 0, and a word with a number a date.
 */
const DELAY = /^(?:\d+(?:\.\d+)?$|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun).* \d\d:\d\d:\d\d)/
const LONGEST_WORD = 200
const LONGEST_MESSAGE = 300
/** Headers with a request's id: Anthropic, OpenAI, AWS, Google. */
const REQUEST_ID_HEADERS = ['request-id', 'x-request-id', 'x-amzn-requestid', 'x-goog-request-id']

/** Reads type, request id and `retry-after` of a failed reply; its texts are bounded and contain none of `secrets`. */
export function readFailedReply(reply: {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly secrets: readonly string[]
}): FailedReply {
  const { status, headers, secrets } = reply
  const body = parseBody(reply.body)
  const error = body?.error
  const wordOf = (...values: unknown[]) => {
    const word = values.find((value) => typeof value === 'string' && value !== '')
    return typeof word === 'string' ? hideSecrets(word, secrets).slice(0, LONGEST_WORD) : null
  }
  const amazonType = String(headers['x-amzn-errortype'] ?? '').split(':')[0]
  const retryAfter = headers['retry-after']
  return {
    status,
    type: wordOf(error?.type, error?.status, error?.code, amazonType, body?.type, body?.code),
    requestId: wordOf(...REQUEST_ID_HEADERS.map((name) => headers[name]), body?.request_id),
    retryAfter: retryAfterMs(retryAfter) === undefined ? undefined : retryAfter,
  }
}

/** Returns the parts of an `upstream_error` from the provider's last failed reply: `error.provider` and `retry-after`. */
export function upstreamErrorParts(name: string, last: FailedReply | undefined): ErrorOptions {
  const { status = null, type = null, requestId = null, retryAfter } = last ?? {}
  return {
    fields: { provider: { name, status, type, request_id: requestId } },
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  }
}

/** Converts `retry-after` to milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3); `undefined` for other texts. */
export function retryAfterMs(text: string | string[] | undefined): number | undefined {
  if (typeof text !== 'string' || !DELAY.test(text)) return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Returns the message of an error body, after a colon: from `error.message`, `message`, or a list of such; it contains none of `secrets`. */
export function providerMessage(body: Buffer, secrets: readonly string[]): string {
  const parsed = parseBody(body)
  const message = parsed?.error?.message ?? parsed?.message
  return typeof message === 'string' ? `: ${hideSecrets(message, secrets).slice(0, LONGEST_MESSAGE)}` : ''
}

/** Members in which providers describe an error; all are unchecked. */
interface ErrorBody {
  readonly error?: {
    readonly type?: unknown
    readonly status?: unknown
    readonly code?: unknown
    readonly message?: unknown
  } | null
  readonly type?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly request_id?: unknown
}

/** Parses an error body. Gemini's servers wrap an error in a list. */
function parseBody(body: Buffer): ErrorBody | undefined {
  const parsed = tryParseJson(body)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  // Safe: every member may be absent or of any type, and readers check.
  return isObject(first) ? (first as ErrorBody) : undefined
}
