import { z } from 'zod'

const messagesErrorSchema = z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) })
const serviceErrorSchema = z.looseObject({ error: z.looseObject({ message: z.string().optional() }) })
/** Errors of a stream's request stand in an array. */
const bodySchema = z.union([
  serviceErrorSchema,
  z.tuple([serviceErrorSchema], z.unknown()).transform(([first]) => first),
])

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
}

/**
 * An error body in the Messages shape; never throws. The platform's own errors are Google's (Google Cloud, "API errors");
 * the model's pass as they are.
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  const json = parse(body)
  if (messagesErrorSchema.safeParse(json).success) return body
  const message =
    bodySchema.safeParse(json).data?.error.message || `The provider answered ${status} without a readable error.`
  const type = TYPES[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error')
  return Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }))
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined // a page of a proxy, or a body that was cut: there is no error to read
  }
}
