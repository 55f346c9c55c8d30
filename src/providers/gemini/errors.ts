import { z } from 'zod'

const errorSchema = z.looseObject({
  code: z.number().optional(),
  status: z.string().optional(),
  message: z.string().optional(),
  details: z.array(z.looseObject({ reason: z.string().optional() })).optional(),
})
const bodySchema = z.looseObject({ error: errorSchema })
/** A stream that was asked for without `alt=sse` puts its error into an array. */
const replySchema = z.union([bodySchema, z.tuple([bodySchema], z.unknown()).transform(([first]) => first)])

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
}

/**
 * Translates an error body of Gemini to one of the Messages shape; never throws. A wrong key is a 400 there, told apart by
 * its reason (Gemini API, "Troubleshooting").
 */
export function toMessagesError(status: number, body: Buffer): Buffer {
  const error = parseError(body)
  const type = typeOf(trueStatus(status, body))
  const message = error?.message || `The provider answered ${status} without a readable error.`
  return Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }))
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

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error')
}

function parseError(body: Buffer): z.infer<typeof errorSchema> | undefined {
  try {
    return replySchema.safeParse(JSON.parse(body.toString())).data?.error
  } catch {
    return undefined // a page of a proxy, or a body that was cut: there is no error to read
  }
}
