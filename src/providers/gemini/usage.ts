import { readUsage, type Usage } from '../../core/reply/usage.ts'

/** The members of a Messages `usage` that Gemini's counts give. */
export interface MessagesUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount']

/**
 * Reads Gemini's `usageMetadata`; `undefined` when it has no counts. Gemini's prompt count includes tokens read from a
 * cache, the Messages count does not; thinking is billed as output (Gemini API, "UsageMetadata").
 */
export function readGeminiUsage(raw: unknown): Usage | undefined {
  return readUsage(toMessagesUsage(raw))
}

/** Converts `usageMetadata` to a Messages `usage` object; `undefined` when it has no counts. */
export function toMessagesUsage(raw: unknown): MessagesUsage | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const counts = new Map(Object.entries(raw))
  if (!COUNTS.some((name) => Number.isSafeInteger(counts.get(name)))) return undefined
  const count = (name: string) => {
    const value: unknown = counts.get(name)
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
  }
  const cached = count('cachedContentTokenCount')
  return {
    input_tokens: Math.max(0, count('promptTokenCount') - cached) + count('toolUsePromptTokenCount'),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
  }
}
