/** A limit that every model takes. */
const COMMON_TOKENS = 4096

/**
 * Longest replies that models without reasoning can be asked for, in tokens; above it they refuse the request. The first
 * match counts. Sources: OpenAI, "Models"; Google, "Gemini models"; Anthropic, "Models overview"; DeepSeek, "Models & Pricing".
 */
const LIMITS: readonly (readonly [models: RegExp, tokens: number])[] = [
  [/(?:^|\/)gpt-4o-2024-05-13/i, COMMON_TOKENS],
  [/(?:^|\/)(?:chatgpt-4o|gpt-4o|gpt-5-chat)/i, 16_384],
  [/(?:^|\/)gpt-4\.1/i, 32_768],
  [/(?:^|\/)gemini-(?:1\.5|2\.0)/i, 8192],
  [/(?:^|\/)claude-(?:opus|sonnet|haiku)-[4-9]/i, 32_000],
  [/(?:^|\/)deepseek-chat/i, 8192],
]

/** Returns the longest limit, in output tokens, that a model without reasoning is known to take; 4,096 for other models. */
export function longestLimitOf(model: string): number {
  return LIMITS.find(([models]) => models.test(model))?.[1] ?? COMMON_TOKENS
}
