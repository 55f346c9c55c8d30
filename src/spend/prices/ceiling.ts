import { type PriceSheet, perRequest, perToken, type TokenRates } from './sheet.ts'
import { CEILING_FACTORS } from './terms.ts'

/** Price of a model of unknown price: USD per million tokens, and per thousand searches. */
export interface CeilingPrice {
  readonly input: number
  readonly output: number
  readonly web_search: number
}

/** Prices of cached tokens in USD per million, beside those of input and output. */
export interface CachePrices {
  readonly cache_read?: number | undefined
  readonly cache_write_5m?: number | undefined
  readonly cache_write_1h?: number | undefined
}

/** Returns the sheet of every unknown model. */
export function ceilingSheet(ceiling: CeilingPrice): PriceSheet {
  return {
    source: 'ceiling',
    matched: undefined,
    steps: [{ aboveInputTokens: 0, rates: writtenRates(ceiling) }],
    webSearch: perRequest(ceiling.web_search),
    webFetch: 0n,
    call: 0n,
    factors: CEILING_FACTORS,
  }
}

/**
 * Returns the rates of configured prices. Missing cache prices are the highest usual ones: a read costs as much as
 * input, a write 1.25 and 2 times as much (Claude API, "Prompt caching": pricing).
 */
export function writtenRates(prices: CachePrices & { readonly input: number; readonly output: number }): TokenRates {
  const input = perToken(prices.input)
  const optional = (price: number | undefined) => (price === undefined ? undefined : perToken(price))
  return {
    input,
    cacheRead: optional(prices.cache_read) ?? input,
    cacheWrite5m: optional(prices.cache_write_5m) ?? (input * 5n + 3n) / 4n,
    cacheWrite1h: optional(prices.cache_write_1h) ?? input * 2n,
    output: perToken(prices.output),
  }
}
