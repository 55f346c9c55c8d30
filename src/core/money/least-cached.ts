/** `claude-3-7-sonnet-20250219`, `claude-opus-4.6`, `claude-sonnet-4-20250514`: a number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]+-)*(\d{1,2})(?!\d)(?:[.-](\d{1,2})(?!\d))?/i
const USUAL_LEAST = 1024

/** Returns the version of a Claude model, 100 × major + minor; infinity for a name without one, which is assumed to be the newest. */
export function claudeVersion(model: string): number {
  const [, major, minor = '0'] = VERSION.exec(model) ?? []
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
}

/**
 * Returns the least length of a prefix that a model's provider caches, in tokens. Sources: "Prompt caching" of Anthropic's and
 * OpenAI's documentation. Too low a figure costs nothing: the provider ignores the mark.
 */
export function leastCachedTokens(model: string): number {
  const version = claudeVersion(model)
  if (/haiku/i.test(model)) return version < 405 ? 2048 : 4096
  return /opus/i.test(model) && version >= 405 && version <= 407 ? 4096 : USUAL_LEAST
}
