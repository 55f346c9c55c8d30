import type { Usage } from 'turnpike/plugin/spend'

/** Tests for counts of the input: translated streams have zeros until their end. */
export function hasInput(usage: Usage | undefined): usage is Usage {
  if (usage === undefined) return false
  return usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens > 0
}
