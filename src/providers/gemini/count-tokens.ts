import { z } from 'zod'
import { tryParseJson } from '../../core/json/json-value.ts'

const replySchema = z.looseObject({ totalTokens: z.int().nonnegative() })

/** Translates a reply of `countTokens` to the Messages shape, in tokens; `undefined` when it cannot be read. */
export function toCountTokensReply(reply: Buffer): Buffer | undefined {
  const { data } = replySchema.safeParse(tryParseJson(reply))
  return data && Buffer.from(JSON.stringify({ input_tokens: data.totalTokens }))
}
