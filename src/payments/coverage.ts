import type { Prices } from '../core/caps.ts'
import { GatewayError } from '../core/errors.ts'
import { type Asked, costOf, estimate, tokensFor } from '../core/estimate.ts'
import type { TokenCounter } from '../core/ports.ts'

/** What a price is held against. */
export interface CoverageOptions {
  readonly prices: Prices
  readonly tokens: TokenCounter
  /** The most that a provider may cost for one paid call. */
  readonly coversNanoUsd: number
}

/** What a call may cost at the provider, and what the price has room for. */
export interface Coverage {
  readonly worstNanoUsd: number
  readonly coversNanoUsd: number
  /** The largest `max_tokens` that is covered; below 1 when the input alone costs more. */
  readonly mostTokens: number
}

const NANO_USD = 1e9

/** Holds a call against its price. */
export function coverageOf(
  asked: Asked,
  { prices, tokens, coversNanoUsd, atMs }: CoverageOptions & { atMs: number },
): Coverage {
  const cost = estimate(asked, { tokens, prices }, { answers: 1, atMs })
  return {
    worstNanoUsd: costOf(cost, asked.request.maxTokens),
    coversNanoUsd,
    mostTokens: Math.max(0, tokensFor(cost, coversNanoUsd)),
  }
}

/** Throws `price_too_low` when a call could cost more than its price covers, and says what would fit. */
export function assertCovered({ worstNanoUsd, coversNanoUsd, mostTokens }: Coverage): void {
  if (worstNanoUsd <= coversNanoUsd) return
  const [limit, estimated] = [coversNanoUsd / NANO_USD, worstNanoUsd / NANO_USD]
  const help =
    mostTokens < 1
      ? 'The input alone costs more: shorten it, or ask a cheaper model.'
      : `It fits with \`max_tokens\` of ${mostTokens} or less.`
  throw new GatewayError(
    'price_too_low',
    `max_tokens: this call could cost ${estimated} USD at the provider, and its price covers ${limit} USD. ${help}`,
    { fields: { limit, estimated, max_tokens: mostTokens } },
  )
}
