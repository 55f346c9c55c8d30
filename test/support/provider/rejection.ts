import type { JsonObject } from '../json.ts'

/** The provider's refusal of a request. */
export interface Rejection {
  status: number
  type: string
  message: string
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** Returns the provider's `error.type` for an HTTP status; `api_error` for every other 5xx. */
export function errorTypeOf(status: number): string {
  return errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

/** Makes a refusal with the provider's type for its status. */
export function rejection(status: number, message: string): Rejection {
  return { status, type: errorTypeOf(status), message }
}

/** Makes the refusal of an invalid body: 400 `invalid_request_error`. */
export function invalid(message: string): Rejection {
  return rejection(400, message)
}

/** Builds the provider's error body; the request id is in it as in the `request-id` header. */
export function toErrorBody(error: { type: string; message: string }, requestId: string): JsonObject {
  return { type: 'error', error: { type: error.type, message: error.message }, request_id: requestId }
}
