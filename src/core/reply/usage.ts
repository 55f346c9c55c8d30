import { isObject } from '../json/json-value.ts'

/** Tokens and requests that one reply used. Counts that the provider did not report are 0, words are left out. */
export interface Usage {
  /** Input tokens that were neither read from nor written to the provider's prompt cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadInputTokens: number
  /** Input tokens written to the prompt cache, of all lifetimes together. */
  readonly cacheCreationInputTokens: number
  /** The same by lifetime, 5 minutes and 1 hour. The two add up to `cacheCreationInputTokens`. */
  readonly cacheCreation?: CacheCreation
  /** Requests of the provider's own tools, which it bills one by one. */
  readonly webSearchRequests: number
  readonly webFetchRequests: number
  /** Words that change the price: `standard`, `priority`, `batch`; `us`, `global`; `fast`. */
  readonly serviceTier?: string
  readonly inferenceGeo?: string
  readonly speed?: string
  /** The model that answered, by the provider's name, if the request named several and it is not the requested one. */
  readonly servedModel?: string
  /** Counted by the gateway, since the provider's counts were less than the reply can have. */
  readonly isCounted?: true
  /** The provider's own object; of merged usages, its members merged. */
  readonly raw: RawUsage
}

/** Tokens written to the prompt cache, by lifetime. */
export interface CacheCreation {
  readonly ephemeral5m: number
  readonly ephemeral1h: number
}

type RawUsage = Readonly<Record<string, unknown>>

const TOKEN_COUNTS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

/**
 * Reads the `usage` object of a message, a `message_start` or a `message_delta` event; `undefined` when `raw` is no object
 * with at least one token count. A value that is no integer of 0 or more counts as absent.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw) || !TOKEN_COUNTS.some((name) => countOf(raw[name]) !== undefined)) return undefined
  return fromRaw(raw)
}

/**
 * Merges the usage of a stream so far: counts are cumulative, so those of `later` replace those of `earlier`; members that
 * are absent or null in `later` keep their values.
 */
export function mergeUsage(earlier: Usage | undefined, later: Usage): Usage
export function mergeUsage(earlier: Usage, later: Usage | undefined): Usage
export function mergeUsage(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined
export function mergeUsage(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier
  const given = Object.entries(later.raw).filter(([, value]) => value !== null && value !== undefined)
  return fromRaw({ ...earlier.raw, ...Object.fromEntries(given) })
}

/** Returns the output tokens that were spent on thinking; 0 where the provider does not report them. */
export function reasoningTokensOf({ raw, outputTokens }: Pick<Usage, 'raw' | 'outputTokens'>): number {
  return Math.min(countOf(recordOf(raw.output_tokens_details)?.thinking_tokens) ?? 0, outputTokens)
}

function fromRaw(raw: RawUsage): Usage {
  const lifetimes = recordOf(raw.cache_creation)
  const serverTools = recordOf(raw.server_tool_use)
  const longLived = countOf(lifetimes?.ephemeral_1h_input_tokens) ?? 0
  const shortLived = countOf(lifetimes?.ephemeral_5m_input_tokens) ?? 0
  const cacheCreationInputTokens = countOf(raw.cache_creation_input_tokens) ?? longLived + shortLived
  return {
    inputTokens: countOf(raw.input_tokens) ?? 0,
    outputTokens: countOf(raw.output_tokens) ?? 0,
    cacheReadInputTokens: countOf(raw.cache_read_input_tokens) ?? 0,
    cacheCreationInputTokens,
    ...(lifetimes && { cacheCreation: splitByLifetime(cacheCreationInputTokens, { shortLived, longLived }) }),
    webSearchRequests: countOf(serverTools?.web_search_requests) ?? 0,
    webFetchRequests: countOf(serverTools?.web_fetch_requests) ?? 0,
    ...wordOf('serviceTier', raw.service_tier),
    ...wordOf('inferenceGeo', raw.inference_geo),
    ...wordOf('speed', raw.speed),
    raw,
  }
}

/**
 * Splits `total` tokens by lifetime. A stream's last count is often larger than the first, which alone came with
 * lifetimes; the surplus has the lifetime of the rest, and 5 minutes, the provider's default, when both occur or none.
 */
function splitByLifetime(total: number, { shortLived, longLived }: { shortLived: number; longLived: number }) {
  const isAllLong = longLived > 0 && shortLived === 0
  const ephemeral1h = isAllLong ? total : Math.min(longLived, total)
  return { ephemeral5m: total - ephemeral1h, ephemeral1h }
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function wordOf<Name extends string>(name: Name, value: unknown): { readonly [key in Name]?: string } {
  // Safe: a computed key widens to string, but it is `name` alone that is set.
  return typeof value === 'string' ? ({ [name]: value } as { [key in Name]: string }) : {}
}

function recordOf(value: unknown): RawUsage | undefined {
  return isObject(value) ? value : undefined
}
