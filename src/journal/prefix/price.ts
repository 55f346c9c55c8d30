import type { Prices } from '../../core/money/prices.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Target } from '../../core/request/exchange.ts'

/**
 * Returns what it cost that `tokens` of a reply's input were not read from the prompt cache, in nano-dollars: the price of its
 * usage minus the price with these tokens read, from the price list that billed it.
 */
export function priceOfLoss(
  pricer: Pick<Prices, 'price'>,
  { target, usage, tokens, atMs }: { target: Target; usage: Usage; tokens: number; atMs: number },
): number {
  if (tokens === 0) return 0
  const paid = pricer.price(target, usage, atMs).costNanoUsd
  const withReads = pricer.price(target, withRead(usage, tokens), atMs).costNanoUsd
  return Math.max(0, paid - withReads)
}

/** Moves tokens to those that were read: from the written ones first, the long-lived first, since they come first in a prompt. */
function withRead(usage: Usage, tokens: number): Usage {
  const { cacheCreation, cacheCreationInputTokens: written } = usage
  const ofWritten = Math.min(tokens, written)
  const ofLong = Math.min(ofWritten, cacheCreation?.ephemeral1h ?? 0)
  return {
    ...usage,
    inputTokens: Math.max(0, usage.inputTokens - (tokens - ofWritten)),
    cacheReadInputTokens: usage.cacheReadInputTokens + tokens,
    cacheCreationInputTokens: written - ofWritten,
    ...(cacheCreation && {
      cacheCreation: {
        ephemeral1h: cacheCreation.ephemeral1h - ofLong,
        ephemeral5m: cacheCreation.ephemeral5m - (ofWritten - ofLong),
      },
    }),
  }
}
