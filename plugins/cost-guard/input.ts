import type { Usage } from 'turnpike/plugin/spend'

/** Tests for counts of the input: translated streams have zeros until their end. */
export function hasInput(usage: Usage | undefined): usage is Usage {
  return usage !== undefined && inputTokensOf(usage) > 0
}

/** Returns the tokens of the input, cached ones included. */
export function inputTokensOf({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Usage): number {
  return inputTokens + cacheReadInputTokens + cacheCreationInputTokens
}
