import type { Usage } from '../../core/reply/usage.ts'

/** Lower and upper bound of a reply's usage with other input; equal where nothing is unknown. */
export interface UsageSpan {
  readonly least: Usage
  readonly most: Usage
}

/**
 * Returns the usage that a reply would have had with `addedTokens` more input tokens (or fewer, when negative), in the
 * shares of its own input: read from the prompt cache, written to it, and neither. An agent repeats the same text in every
 * request, and text that a plugin removed would have been read from the cache like the rest. For a reply without shares,
 * the lower bound assumes that all of it was read from the cache, the upper bound that none was.
 */
export function withInput(usage: Usage, addedTokens: number): UsageSpan {
  const { inputTokens: fresh, cacheReadInputTokens: read, cacheCreationInputTokens: written } = usage
  const total = fresh + read + written
  if (total === 0 || !reportsShares(usage)) {
    const isRead = add(usage, { fresh: 0, read: addedTokens, written: 0 })
    const isFresh = add(usage, { fresh: addedTokens, read: 0, written: 0 })
    return addedTokens < 0 ? { least: isFresh, most: isRead } : { least: isRead, most: isFresh }
  }
  const share = (part: number) => Math.trunc((addedTokens * part) / total)
  const [ofRead, ofWritten] = [share(read), share(written)]
  const same = add(usage, { fresh: addedTokens - ofRead - ofWritten, read: ofRead, written: ofWritten })
  return { least: same, most: same }
}

/** Returns true when the provider reported its prompt cache. */
function reportsShares({ raw }: Usage): boolean {
  return typeof raw.cache_read_input_tokens === 'number' || typeof raw.cache_creation_input_tokens === 'number'
}

function add(usage: Usage, { fresh, read, written }: { fresh: number; read: number; written: number }): Usage {
  const { cacheCreation } = usage
  const cacheCreationInputTokens = Math.max(0, usage.cacheCreationInputTokens + written)
  return {
    ...usage,
    inputTokens: Math.max(0, usage.inputTokens + fresh),
    cacheReadInputTokens: Math.max(0, usage.cacheReadInputTokens + read),
    cacheCreationInputTokens,
    ...(cacheCreation && { cacheCreation: split(cacheCreation, cacheCreationInputTokens) }),
  }
}

/** Splits written tokens by their lifetimes, in their original proportion. */
function split(
  { ephemeral5m, ephemeral1h }: NonNullable<Usage['cacheCreation']>,
  total: number,
): NonNullable<Usage['cacheCreation']> {
  const before = ephemeral5m + ephemeral1h
  const long = before === 0 ? 0 : Math.round((total * ephemeral1h) / before)
  return { ephemeral5m: total - long, ephemeral1h: long }
}
