import type { Usage } from '../reply/usage.ts'
import type { Exchange, Target } from '../request/exchange.ts'
import type { Prices } from './caps.ts'

const MANY_TOKENS: Usage = {
  inputTokens: 0,
  outputTokens: 1_000_000,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  webSearchRequests: 0,
  webFetchRequests: 0,
  raw: {},
}

/**
 * Returns the multiple of the list price that a request may be billed at: a fast mode, a priority tier, a region. Discounts are
 * not assumed.
 */
export function priceFactor(
  { client }: Pick<Exchange, 'client'>,
  prices: Prices,
  { target, atMs }: { target: Target; atMs: number },
) {
  const terms = {
    ...wordOf('serviceTier', client.document.field('service_tier')),
    ...wordOf('inferenceGeo', client.document.field('inference_geo')),
    ...wordOf('speed', client.document.field('speed')),
  }
  if (Object.keys(terms).length === 0) return 1
  const plain = prices.price(target, MANY_TOKENS, atMs).costNanoUsd
  const asked = prices.price(target, { ...MANY_TOKENS, ...terms }, atMs).costNanoUsd
  return plain === 0 ? 1 : Math.max(1, asked / plain)
}

function wordOf(name: 'serviceTier' | 'inferenceGeo' | 'speed', value: unknown): Partial<Usage> {
  return typeof value === 'string' ? { [name]: value } : {}
}
