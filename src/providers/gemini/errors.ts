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
/** A stream that was asked for without `alt=sse` puts its error into an array. */
const replySchema = z.union([bodySchema, z.tuple([bodySchema], z.unknown()).transform(([first]) => first)])

/**
 * Translates an error body of Gemini to one of the Messages shape; never throws. A wrong key is a 400 there, told apart by
 * its reason (Gemini API, "Troubleshooting").
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  return messagesErrorBody(trueStatus(status, body), parseError(body)?.message)
}

/** The status that a reply should have had: 401 for a wrong key. */
export function trueStatus(status: number, body: Buffer): number {
  const isKeyWrong = parseError(body)?.details?.some(({ reason }) => reason === 'API_KEY_INVALID') === true
  return isKeyWrong ? 401 : status
}

/** The HTTP status that an error in a stream tells of; 500 when it tells of none. */
export function statusOfError(body: Buffer): number {
  return parseError(body)?.code ?? 500
}

function parseError(body: Buffer): z.infer<typeof errorSchema> | undefined {
  return replySchema.safeParse(tryParseJson(body)).data?.error
}
