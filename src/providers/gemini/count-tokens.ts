import { z } from 'zod'
import { readJson } from '../../core/json/read-json.ts'

const replySchema = z.looseObject({ totalTokens: z.int().nonnegative() })

/** Translates a reply of `countTokens` to one of the Messages shape, in tokens; `undefined` when it cannot be read. */
export function toCountTokensReply(reply: Buffer): Buffer | undefined {
  const { data } = replySchema.safeParse(readJson(reply))
  return data && Buffer.from(JSON.stringify({ input_tokens: data.totalTokens }))
}
