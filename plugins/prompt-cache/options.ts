import { z } from 'turnpike/plugin'

export const options = z.strictObject({
  longest: z
    .enum(['5m', '1h'])
    .default('1h')
    .describe(
      'Longest lifetime of a mark. `5m`: no marks of an hour, for accounts that do not take them; long pauses then cost a new write.',
    ),
  max_conversations: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(5000)
    .describe(
      'Conversations, and beginnings of conversations, that are remembered, at most 6 KB each. The least recently used is evicted, and is learnt again.',
    ),
})
