import type { Usage } from '../../src/core/reply/usage.ts'
import { createPriceBook, type PriceBook, type PriceBookOptions } from '../../src/spend/prices/book.ts'

/** Prices of unknown models in tests. */
export const CEILING = { input: 15, output: 75, web_search: 35 }

/** 20 November 2026, 12:00 UTC. */
export const NOVEMBER_MS = Date.UTC(2026, 10, 20, 12)

/** Creates a price book with the tests' ceiling and these prices of an operator. */
export function bookOf(models: PriceBookOptions['overrides']['models'] = []): PriceBook {
  return createPriceBook({ overrides: { models }, ceiling: CEILING })
}

/** Creates a usage with these counts and no others. */
export function usageOf(given: Partial<Usage> = {}): Usage {
  const { ephemeral5m = 0, ephemeral1h = 0 } = given.cacheCreation ?? {}
  return {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: ephemeral5m + ephemeral1h,
    webSearchRequests: 0,
    webFetchRequests: 0,
    raw: {},
    ...given,
  }
}
