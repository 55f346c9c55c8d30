import { z } from 'zod'
import type { ReplyHeaders } from '../../core/reply/reply.ts'
import { printEvent } from '../../core/reply/sse.ts'

const messagesErrorSchema = z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) })
/** Services in front of the model spell it with a capital letter. */
const serviceErrorSchema = z.looseObject({ message: z.string().optional(), Message: z.string().optional() })

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  424: 'api_error',
  429: 'rate_limit_error',
}

/** Exceptions within a stream (Amazon Bedrock API Reference, "ResponseStream"); the others are `api_error`. */
const EXCEPTION_TYPES = new Map([
  ['throttlingException', 'rate_limit_error'],
  ['serviceUnavailableException', 'overloaded_error'],
  ['modelTimeoutException', 'timeout_error'],
  ['validationException', 'invalid_request_error'],
])

/**
 * An error body in the Messages shape; never throws. The service's own errors are `{"message": …}` with their name in a
 * header (Amazon Bedrock API Reference, "Common Error Types"); the model's pass as they are.
 */
export function toMessagesError(status: number, headers: ReplyHeaders, body: Buffer): Buffer {
  const json = parse(body)
  if (messagesErrorSchema.safeParse(json).success) return body
  const name = headers['x-amzn-errortype']
  const named = typeof name === 'string' ? ` (${name.split(':')[0]})` : ''
  const message = messageIn(json) ?? `The provider answered ${status}${named} without a readable error.`
  return Buffer.from(JSON.stringify({ type: 'error', error: { type: typeOf(status), message } }))
}

/** An exception within a stream, as the Messages event that ends one. */
export function exceptionEvent(name: string, body: Buffer): string {
  const message = messageIn(parse(body)) ?? `The provider ended the stream with ${name}.`
  const event = { type: 'error', error: { type: EXCEPTION_TYPES.get(name) ?? 'api_error', message } }
  return printEvent(event)
}

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error')
}

/** What the service expected to be signed follows a wrong signature's message, and a session token is among it. */
const CANONICAL_REQUEST = /\s*The Canonical String for this request.*$/s

function messageIn(json: unknown): string | undefined {
  const error = serviceErrorSchema.safeParse(json).data
  const message = error?.message ?? error?.Message
  return message === undefined || message === '' ? undefined : message.replace(CANONICAL_REQUEST, '')
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined // a page of a proxy, or a body that was cut: there is no error to read
  }
}
