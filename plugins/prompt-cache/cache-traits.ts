/** Bounds of a model’s prompt cache. Sources: Claude API, Amazon Bedrock and OpenAI, "Prompt caching". */
export interface CacheTraits {
  /** Writes what is marked, or every prompt unless `prompt_cache_options` say otherwise. */
  readonly writes: 'marked' | 'all'
  /** Fewest tokens of a prefix that is cached. */
  readonly leastTokens: number
  /** True where entries of an hour are available. */
  readonly takesHour: boolean
}

/** `claude-3-7-sonnet-20250219`, `claude-opus-4.6`, `claude-sonnet-4-20250514`: a number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]+-)*(\d{1,2})(?!\d)(?:[.-](\d{1,2})(?!\d))?/i
const VERSION_SONNET = 406
/** Since then, the largest and the smallest models cache from 4,096 tokens. */
const VERSION_LONGER = 405
/** First models that cache at Bedrock, and the first there with entries of an hour. */
const BEDROCK = { least: 307, hour: 405 }
const BEDROCK_HAIKU = 305

/** OpenAI’s models with `prompt_cache_options`: GPT-5.6 and later families. */
const WITH_OPTIONS = /^gpt-(?:5\.[6-9]|[6-9])/
const OPENAI_LEAST_TOKENS = 1024
/** Providers that take marks of the Messages API. */
const PROVIDERS: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'vertex'])

/** Returns the traits of a target's cache; `undefined` where a request cannot control it. */
export function cacheTraitsOf({ provider, model }: { provider: string; model: string }): CacheTraits | undefined {
  if (provider === 'openai' && WITH_OPTIONS.test(model))
    return { writes: 'all', leastTokens: OPENAI_LEAST_TOKENS, takesHour: false }
  if (!PROVIDERS.has(provider) || !/claude/i.test(model)) return undefined
  const [, major, minor = '0'] = VERSION.exec(model) ?? []
  // A name without a version is assumed to be the newest model.
  const version = major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
  const isHaiku = /haiku/i.test(model)
  if (provider === 'bedrock' && version < (isHaiku ? BEDROCK_HAIKU : BEDROCK.least)) return undefined
  return {
    writes: 'marked',
    leastTokens: leastTokensOf(model, version),
    takesHour: provider !== 'bedrock' || version >= BEDROCK.hour,
  }
}

function leastTokensOf(model: string, version: number): number {
  if (/sonnet/i.test(model)) return version >= VERSION_SONNET ? 2048 : 1024
  if (version >= VERSION_LONGER) return 4096
  return /haiku/i.test(model) ? 2048 : 1024
}
