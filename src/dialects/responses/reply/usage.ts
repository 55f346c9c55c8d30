import type { JsonObject } from '../../../core/json/json-value.ts'
import { readUsage, type Usage } from '../../../core/reply/usage.ts'
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

/**
 * Reads the usage object of a response, in tokens; `undefined` when it has no count. `raw` of the result has the names of the
 * Messages shape. `input_tokens` includes tokens read from and written to the prompt cache, which that shape counts apart.
 */
export function readResponsesUsage(raw: unknown): Usage | undefined {
  const usage = recordOf(raw)
  const input = countOf(usage?.input_tokens)
  const output = countOf(usage?.output_tokens)
  if (input === undefined && output === undefined) return undefined
  const details = recordOf(usage?.input_tokens_details)
  const read = countOf(details?.cached_tokens) ?? 0
  const written = countOf(details?.cache_write_tokens) ?? 0
  const reasoning = countOf(recordOf(usage?.output_tokens_details)?.reasoning_tokens)
  return readUsage({
    input_tokens: Math.max(0, (input ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: output ?? 0,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  })
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
