import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { readUsage, type Usage } from '../../../core/reply/usage.ts'
import { recordOf } from './narrow.ts'

/** The `usage` of a message that has not begun, or of a provider that does not count. */
export const NO_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
} as const

/**
 * Reads the usage object of a completion or chunk, in tokens; `undefined` when it has no count. `raw` of the result has
 * the names of the Messages shape, so that it can be merged and printed as one.
 *
 * `prompt_tokens` includes tokens read from and written to the prompt cache; the Messages shape counts those separately.
 * Sources: OpenAI, API reference, "the chat completion object", and "prompt caching"; DeepSeek, "context caching" for
 * `prompt_cache_hit_tokens`; Moonshot for `cached_tokens` beside the counts.
 */
export function readChatUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = countOf(raw.prompt_tokens)
  const completion = countOf(raw.completion_tokens)
  if (prompt === undefined && completion === undefined) return undefined
  const details = recordOf(raw.prompt_tokens_details)
  const read =
    countOf(details?.cached_tokens) ?? countOf(raw.prompt_cache_hit_tokens) ?? countOf(raw.cached_tokens) ?? 0
  const written = countOf(details?.cache_write_tokens) ?? countOf(details?.cache_creation_tokens) ?? 0
  return readUsage({
    input_tokens: Math.max(0, (prompt ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...outputOf(raw, { prompt: prompt ?? 0, completion: completion ?? 0 }),
  })
}

/**
 * Returns output tokens, reasoning included. Where `total_tokens` shows that `completion_tokens` excludes reasoning, as
 * with xAI, it is added.
 */
function outputOf(raw: JsonObject, { prompt, completion }: { prompt: number; completion: number }) {
  const reasoning = countOf(recordOf(raw.completion_tokens_details)?.reasoning_tokens)
  if (reasoning === undefined) return { output_tokens: completion }
  const apart = Math.max(0, (countOf(raw.total_tokens) ?? 0) - prompt - completion)
  const output = completion + Math.min(reasoning, apart)
  return { output_tokens: output, output_tokens_details: { thinking_tokens: Math.min(reasoning, output) } }
}

/** Builds the usage object of a chat completion; zeros when the message reported no usage. */
export function toChatUsage(usage: Usage | undefined): JsonObject {
  const read = usage?.cacheReadInputTokens ?? 0
  const written = usage?.cacheCreationInputTokens ?? 0
  const prompt = (usage?.inputTokens ?? 0) + read + written
  const completion = usage?.outputTokens ?? 0
  const reasoning = countOf(recordOf(usage?.raw.output_tokens_details)?.thinking_tokens)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
