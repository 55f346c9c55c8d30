import { claudeVersion, leastCachedTokens } from 'turnpike/plugin/spend'

/** Bounds of a model’s prompt cache. Sources: Claude API, Amazon Bedrock and OpenAI, "Prompt caching". */
export interface CacheTraits {
  /** Writes what is marked, or every prompt unless `prompt_cache_options` say otherwise. */
  readonly writes: 'marked' | 'all'
  /** Fewest tokens of a prefix that is cached. */
  readonly leastTokens: number
  /** True where entries of an hour are available. */
  readonly takesHour: boolean
}

/** First models that cache at Bedrock, and the first there with entries of an hour. */
const BEDROCK = { least: 307, hour: 405 }
const BEDROCK_HAIKU = 305

/** OpenAI’s models with `prompt_cache_options`: GPT-5.6 and later families. */
const WITH_OPTIONS = /^gpt-(?:5\.[6-9]|[6-9])/
/** Providers that take marks of the Messages API. */
const PROVIDERS: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'vertex'])

/** Returns the traits of a target's cache; `undefined` where a request cannot control it. */
export function cacheTraitsOf({ provider, model }: { provider: string; model: string }): CacheTraits | undefined {
  if (provider === 'openai' && WITH_OPTIONS.test(model))
    return { writes: 'all', leastTokens: leastCachedTokens(model), takesHour: false }
  if (!PROVIDERS.has(provider) || !/claude/i.test(model)) return undefined
  const version = claudeVersion(model)
  const isHaiku = /haiku/i.test(model)
  if (provider === 'bedrock' && version < (isHaiku ? BEDROCK_HAIKU : BEDROCK.least)) return undefined
  return {
    writes: 'marked',
    leastTokens: leastCachedTokens(model),
    takesHour: provider !== 'bedrock' || version >= BEDROCK.hour,
  }
}
