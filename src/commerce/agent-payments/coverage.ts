import { GatewayError } from '../../core/errors.ts'
import { type Asked, costOf, type Estimate, estimate, mostOutputTokens, tokensFor } from '../../core/money/estimate.ts'
import { type Prices, type Rates, ratesOf } from '../../core/money/prices.ts'
import { toUsd } from '../../core/money/usd.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import { targetsWithNamed } from '../../core/request/named-models.ts'
import { type ProviderWork, providerWorkOf } from './provider-work.ts'

/** Inputs of the coverage check. */
export interface CoverageOptions {
  readonly prices: Prices
  readonly tokens: TokenCounter
  /** The highest provider cost that one paid call covers. */
  readonly coversNanoUsd: number
}

/** Highest provider cost of a call, and what its price covers. */
export interface Coverage {
  readonly worstNanoUsd: number
  readonly coversNanoUsd: number
  /** The largest `max_tokens` that is covered; below 1 when the input alone costs more. */
  readonly mostTokens: number
  /** Number of web searches included in it. */
  readonly searches: number
}

/** Compares a call's highest cost with its price. Throws `price_too_low` for a request whose cost has no bound. */
export function coverageOf(
  asked: Asked,
  { prices, tokens, coversNanoUsd, atMs }: CoverageOptions & { atMs: number },
): Coverage {
  const work = providerWorkOf(asked.request)
  const plain = estimate(asked, { tokens, prices }, { answers: 1, atMs })
  const cost = work.rounds === 0 ? plain : withWork(plain, work, { asked, prices, atMs })
  return {
    worstNanoUsd: costOf(cost, mostOutputTokens(asked.request)),
    coversNanoUsd,
    mostTokens: Math.max(0, tokensFor(cost, coversNanoUsd)),
    searches: work.searches,
  }
}

/** Adds the provider's work: each round reads all before it again: the request, search results, and output. */
function withWork(
  plain: Estimate,
  { searches, rounds, foundTokens }: ProviderWork,
  { asked, prices, atMs }: { asked: Asked; prices: Prices; atMs: number },
): Estimate {
  const targets = targetsWithNamed(asked.targets, asked.client.document)
  const largest = plain.inputTokens + foundTokens + mostOutputTokens(asked.request)
  const rates = targets.map((target) => ratesOf(asked, prices, { target, inputTokens: largest, atMs }))
  const most = (name: keyof Rates) => Math.max(...rates.map((rate) => rate[name]))
  // Repeated input may be written to the prompt cache, which costs more than input.
  const readNanoUsd = most('cacheWrite5mNanoUsd')
  return {
    ...plain,
    inputNanoUsd: plain.inputNanoUsd * (1 + rounds) + foundTokens * readNanoUsd + searches * most('webSearchNanoUsd'),
    outputTokenNanoUsd: plain.outputTokenNanoUsd + rounds * readNanoUsd,
  }
}

/** Throws `price_too_low` when a call could cost more than its price covers, and states what would fit. */
export function assertCovered({ worstNanoUsd, coversNanoUsd, mostTokens, searches }: Coverage): void {
  if (worstNanoUsd <= coversNanoUsd) return
  const [limit, estimated] = [toUsd(coversNanoUsd), toUsd(worstNanoUsd)]
  throw new GatewayError(
    'price_too_low',
    `max_tokens: this call could cost ${estimated} USD at the provider, and its price covers ${limit} USD. ${helpOf(mostTokens, searches)}`,
    { fields: { limit, estimated, max_tokens: mostTokens } },
  )
}

function helpOf(mostTokens: number, searches: number): string {
  if (mostTokens >= 1) return `It fits with \`max_tokens\` of ${mostTokens} or less.`
  if (searches > 0) return 'The input and its searches alone cost more: lower `max_uses`, or ask a cheaper model.'
  return 'The input alone costs more: shorten it, or ask a cheaper model.'
}
