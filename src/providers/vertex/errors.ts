import { z } from 'zod'
import { tryParseJson } from '../../core/json/json-value.ts'
import { messagesErrorBody } from '../messages-error.ts'

const messagesErrorSchema = z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) })
const serviceErrorSchema = z.looseObject({ error: z.looseObject({ message: z.string().optional() }) })
/** An error body; the error of a stream's request is in an array. */
const bodySchema = z.union([
  serviceErrorSchema,
  z.tuple([serviceErrorSchema], z.unknown()).transform(([first]) => first),
])

/**
 * Converts an error body to the Messages shape; never throws. The platform's own errors are Google's (Google Cloud,
 * "API errors"); the model's errors pass unchanged.
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  const json = tryParseJson(body)
  if (messagesErrorSchema.safeParse(json).success) return body
  return messagesErrorBody(status, bodySchema.safeParse(json).data?.error.message || undefined)
}
