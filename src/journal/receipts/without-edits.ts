import type { Usage } from '../../core/reply/usage.ts'

/** The usage of an answer with other input: at the least dear, and at the dearest. The same where nothing is unknown. */
export interface UsageSpan {
  readonly least: Usage
  readonly most: Usage
}

/**
 * The usage that an answer would have had with `addedTokens` more input tokens (or fewer, when negative), in the shares
 * that its own input has: read from the prompt cache, written to it, and neither. An agent sends the same text every turn,
 * and what a module took out of it would have been read from the cache like the rest. Where a reply does not tell its
 * shares, the least is that all of it was read from the cache, and the most that none was.
 */
export function withInput(usage: Usage, addedTokens: number): UsageSpan {
  const { inputTokens: fresh, cacheReadInputTokens: read, cacheCreationInputTokens: written } = usage
  const total = fresh + read + written
  if (total === 0 || !tellsShares(usage)) {
    const isRead = add(usage, { fresh: 0, read: addedTokens, written: 0 })
    const isFresh = add(usage, { fresh: addedTokens, read: 0, written: 0 })
    return addedTokens < 0 ? { least: isFresh, most: isRead } : { least: isRead, most: isFresh }
  }
  const share = (part: number) => Math.trunc((addedTokens * part) / total)
  const [ofRead, ofWritten] = [share(read), share(written)]
  const same = add(usage, { fresh: addedTokens - ofRead - ofWritten, read: ofRead, written: ofWritten })
  return { least: same, most: same }
}

/** Whether the provider has said anything of its prompt cache. */
function tellsShares({ raw }: Usage): boolean {
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

/** Written tokens by their lifetimes, in the proportion that they had. */
function split(
  { ephemeral5m, ephemeral1h }: NonNullable<Usage['cacheCreation']>,
  total: number,
): NonNullable<Usage['cacheCreation']> {
  const before = ephemeral5m + ephemeral1h
  const long = before === 0 ? 0 : Math.round((total * ephemeral1h) / before)
  return { ephemeral5m: total - long, ephemeral1h: long }
}
