import { z } from 'zod'
import { tryParseJson } from '../../core/json/json-value.ts'
import { messagesErrorBody } from '../messages-error.ts'

const errorSchema = z.looseObject({
  code: z.number().optional(),
  status: z.string().optional(),
  message: z.string().optional(),
  details: z.array(z.looseObject({ reason: z.string().optional() })).optional(),
})
const bodySchema = z.looseObject({ error: errorSchema })
/** A reply; without `alt=sse` a stream's error is wrapped in an array. */
const replySchema = z.union([bodySchema, z.tuple([bodySchema], z.unknown()).transform(([first]) => first)])

/**
 * Translates an error body of Gemini to the Messages shape; never throws. A wrong key is a 400 there, recognised by its
 * its reason (Gemini API, "Troubleshooting").
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  return messagesErrorBody(trueStatus(status, body), parseError(body)?.message)
}

/** Returns the correct status of a reply: 401 for a wrong key. */
export function trueStatus(status: number, body: Buffer): number {
  const isKeyWrong = parseError(body)?.details?.some(({ reason }) => reason === 'API_KEY_INVALID') === true
  return isKeyWrong ? 401 : status
}

/** Returns the HTTP status of an error in a stream; 500 when it has none. */
export function statusOfError(body: Buffer): number {
  return parseError(body)?.code ?? 500
}

function parseError(body: Buffer): z.infer<typeof errorSchema> | undefined {
  return replySchema.safeParse(tryParseJson(body)).data?.error
}
