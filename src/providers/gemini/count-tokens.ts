import { z } from 'zod'

const replySchema = z.looseObject({ totalTokens: z.int().nonnegative() })

/** Translates a reply of `countTokens` to one of the Messages shape, in tokens; `undefined` when it cannot be read. */
export function toCountTokensReply(reply: Buffer): Buffer | undefined {
  try {
    const { data } = replySchema.safeParse(JSON.parse(reply.toString()))
    return data && Buffer.from(JSON.stringify({ input_tokens: data.totalTokens }))
  } catch {
    return undefined // not JSON
  }
}
