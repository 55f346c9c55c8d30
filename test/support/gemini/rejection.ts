import type { JsonObject } from '../json.ts'
import type { Rejection } from '../provider/rejection.ts'

/** Gemini's refusal of a request; `type` is the word in its `status` field. */
export interface GeminiRejection extends Rejection {
  /** `reason` of its `ErrorInfo`, e.g. `API_KEY_INVALID`. */
  reason?: string
}

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Makes a refusal with Google's word for its status. */
export function rejection(status: number, message: string, reason?: string): GeminiRejection {
  return { status, type: statuses[status] ?? 'UNKNOWN', message, ...(reason === undefined ? {} : { reason }) }
}

/** Makes the refusal of an invalid body: 400 `INVALID_ARGUMENT`. */
export function invalid(message: string): GeminiRejection {
  return rejection(400, message)
}

/** Builds Google's error body. */
export function toErrorBody({ status, type, message, reason }: GeminiRejection): JsonObject {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }
  return { error: { code: status, message, status: type, ...(reason === undefined ? {} : { details: [info] }) } }
}
