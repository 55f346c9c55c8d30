import { z } from 'zod'
import { tryParseJson } from '../../core/json/json-value.ts'
import type { ReplyHeaders } from '../../core/reply/reply.ts'
import { printEvent } from '../../core/reply/sse.ts'
import { providersError } from '../../dialects/messages/window-error.ts'
import { messagesErrorBody } from '../messages-error.ts'

const messagesErrorSchema = z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) })
/** A service error. Services in front of the model capitalise `Message`. */
const serviceErrorSchema = z.looseObject({ message: z.string().optional(), Message: z.string().optional() })

/** Exceptions within a stream (Amazon Bedrock API Reference, "ResponseStream"); the others are `api_error`. */
const EXCEPTION_TYPES = new Map([
  ['throttlingException', 'rate_limit_error'],
  ['serviceUnavailableException', 'overloaded_error'],
  ['modelTimeoutException', 'timeout_error'],
  ['validationException', 'invalid_request_error'],
])

/**
 * Converts an error body to the Messages shape; never throws. The service's own errors are `{"message": …}` with their name
 * in a header (Amazon Bedrock API Reference, "Common Error Types"); the model's errors pass unchanged.
 */
export function toMessagesError(status: number, headers: ReplyHeaders, body: Buffer): Buffer {
  const json = tryParseJson(body)
  if (messagesErrorSchema.safeParse(json).success) return body
  const name = headers['x-amzn-errortype']
  const named = typeof name === 'string' ? ` (${name.split(':')[0]})` : ''
  const message = messageIn(json) ?? `The provider answered ${status}${named} without a readable error.`
  return messagesErrorBody(status, message)
}

/** Converts an exception within a stream to the Messages event that ends the stream. */
export function exceptionEvent(name: string, body: Buffer): string {
  const message = messageIn(tryParseJson(body)) ?? `The provider ended the stream with ${name}.`
  const event = { type: 'error', error: providersError(EXCEPTION_TYPES.get(name) ?? 'api_error', message) }
  return printEvent(event)
}

/** The canonical request, which the service appends to the message for a wrong signature: it may contain a session token. */
const CANONICAL_REQUEST = /\s*The Canonical String for this request.*$/s

function messageIn(json: unknown): string | undefined {
  const error = serviceErrorSchema.safeParse(json).data
  const message = error?.message ?? error?.Message
  return message === undefined || message === '' ? undefined : message.replace(CANONICAL_REQUEST, '')
}
