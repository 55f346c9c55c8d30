/**
 * The gateway's own errors: a stable code, its HTTP status and the `error.type` that clients see.
 * Source of types and statuses: the service specification, section 7.1.
 */
export const errorCatalogue = {
  invalid_request: { status: 400, type: 'invalid_request' },
  authentication_error: { status: 401, type: 'authentication_error' },
  key_revoked: { status: 401, type: 'authentication_error' },
  key_expired: { status: 401, type: 'authentication_error' },
  payment_required: { status: 402, type: 'payment_required' },
  permission_error: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'not_found' },
  method_not_allowed: { status: 405, type: 'invalid_request' },
  request_timeout: { status: 408, type: 'invalid_request' },
  request_too_large: { status: 413, type: 'invalid_request' },
  unsupported_media_type: { status: 415, type: 'invalid_request' },
  price_too_low: { status: 400, type: 'cost_limit_per_request' },
  cost_limit_per_request: { status: 429, type: 'cost_limit_per_request' },
  cost_limit_per_day: { status: 429, type: 'cost_limit_per_day' },
  cost_limit_per_month: { status: 429, type: 'cost_limit_per_month' },
  cost_limit_per_conversation: { status: 429, type: 'cost_limit_per_conversation' },
  cost_limit_per_agent: { status: 429, type: 'cost_limit_per_agent' },
  cost_limit_per_run: { status: 429, type: 'cost_limit_per_run' },
  turn_limit_per_conversation: { status: 429, type: 'turn_limit_per_conversation' },
  token_limit_per_conversation: { status: 429, type: 'token_limit_per_conversation' },
  time_limit_per_conversation: { status: 429, type: 'time_limit_per_conversation' },
  plan_calls_used: { status: 429, type: 'rate_limit_error' },
  rate_limit_error: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'internal_error' },
  upstream_error: { status: 502, type: 'upstream_error' },
  service_unavailable: { status: 503, type: 'service_unavailable' },
  unavailable_in_mode: { status: 503, type: 'permission_error' },
  not_configured: { status: 503, type: 'internal_error' },
} as const

/** A stable error code: a key of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue

/** Optional parts of a `GatewayError`. */
export interface ErrorOptions {
  /** Machine-readable detail, shown as `error.detail` and at the start of `error.message`. */
  detail?: string
  /** The HTTP status, where the operator may choose it. Default: the catalogue's. */
  status?: number
  /** Further members of the `error` object, e.g. `limit`, `spent`. */
  fields?: Readonly<Record<string, unknown>>
  /** Response headers, lower-case names. */
  headers?: Readonly<Record<string, string>>
  cause?: unknown
}

const NEVER_RETRY = { 'x-should-retry': 'false' }
const RETRY_SOON = { 'retry-after': '1' }

/**
 * Codes after which clients should not retry: the cause does not pass by itself, or, for `upstream_error`, the gateway
 * has retried already and the client's own retries would multiply that.
 */
const FINAL_CODES = new Set<ErrorCode>([
  'authentication_error',
  'key_revoked',
  'key_expired',
  'payment_required',
  'permission_error',
  'unavailable_in_mode',
  'price_too_low',
  'not_configured',
  'upstream_error',
  'cost_limit_per_request',
  'cost_limit_per_day',
  'cost_limit_per_month',
  'cost_limit_per_conversation',
  'cost_limit_per_agent',
  'cost_limit_per_run',
  'turn_limit_per_conversation',
  'token_limit_per_conversation',
  'time_limit_per_conversation',
  'plan_calls_used',
])

/**
 * An error reply of the gateway. The code is the contract, the message is for a person: what happened, with which
 * value, what to do. Everything in it is shown to the client; secrets and causes go into `cause`, which is only logged.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(
      options.detail === undefined ? message : `${options.detail}: ${message}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'GatewayError'
    this.code = code
    this.status = options.status ?? errorCatalogue[code].status
    this.detail = options.detail
    this.fields = options.fields ?? {}
    this.headers = { ...retryHeaders(code), ...options.headers }
  }

  /** Returns the JSON body of the specification, section 2.9. */
  toBody(): { type: 'error'; error: Record<string, unknown> } {
    const error: Record<string, unknown> = { type: errorCatalogue[this.code].type, message: this.message }
    if (this.detail !== undefined) error.detail = this.detail
    return { type: 'error', error: { ...error, ...this.fields } }
  }
}

function retryHeaders(code: ErrorCode): Record<string, string> {
  if (FINAL_CODES.has(code)) return NEVER_RETRY
  if (code === 'service_unavailable') return RETRY_SOON
  return {}
}

/** Returns the code of a system, undici or stream error (`ECONNRESET`, `UND_ERR_SOCKET`, …), or `undefined`. */
export function errorCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the message of any thrown value with its cause's; several causes, as of a connection tried on several addresses. */
export function messageWithCause(error: unknown): string {
  const message = messageOf(error)
  const cause = error instanceof Error ? causeIn(error.cause) : ''
  return cause === '' || message.includes(cause) ? message : `${message} (${cause})`
}

function causeIn(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(messageOf))].join('; ')
  return cause instanceof Error ? cause.message || (errorCodeOf(cause) ?? '') : ''
}
