import type { JsonObject } from '../../../core/json/json-value.ts'
import type { Usage } from '../../../core/reply/usage.ts'
import { recordOf } from '../../chat/reply/narrow.ts'

/** Builds the usage object of a response; zeros when the message reported no usage. */
export function toResponsesUsage(usage: Usage | undefined): JsonObject {
  const read = usage?.cacheReadInputTokens ?? 0
  const written = usage?.cacheCreationInputTokens ?? 0
  const input = (usage?.inputTokens ?? 0) + read + written
  const output = usage?.outputTokens ?? 0
  const reasoning = recordOf(usage?.raw.output_tokens_details)?.thinking_tokens
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: Number.isSafeInteger(reasoning) ? reasoning : 0 },
    total_tokens: input + output,
  }
}
