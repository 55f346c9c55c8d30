import type { Usage } from '../reply/usage.ts'
import type { Exchange, Target } from '../request/exchange.ts'

/** Cost of a usage. */
export interface Cost {
  /** Nano-USD, rounded up once. */
  readonly costNanoUsd: number
  /** The least certain source of the prices used. */
  readonly source: 'operator' | 'catalogue' | 'ceiling'
  /** Name of the matched model, for receipts. */
  readonly matched: string | undefined
}

/** Cost of a usage by class, in nano-USD. The classes add up to the cost. */
export interface CostByClass {
  /** Input that was neither read from nor written to the prompt cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  /** Output without reasoning. */
  readonly output: number
  readonly reasoning: number
  /** Requests of the provider's own tools, and fees per call. */
  readonly serverTools: number
}

/** Upper bounds of a call's price, in nano-USD, rounded up: per token, per request of a provider's tool, and per call. */
export interface Rates {
  readonly inputNanoUsd: number
  readonly cacheReadNanoUsd: number
  readonly cacheWrite5mNanoUsd: number
  readonly cacheWrite1hNanoUsd: number
  readonly outputNanoUsd: number
  readonly webSearchNanoUsd: number
  readonly webFetchNanoUsd: number
  readonly callNanoUsd: number
}

/** Terms of a usage or a request that affect its price. */
export type PriceTerms = Pick<Usage, 'serviceTier' | 'inferenceGeo' | 'speed'>

/** Highest input of a call, cached tokens included, and its terms. */
export interface ExpectedCall extends PriceTerms {
  readonly inputTokens: number
}

/** Prices of models: the only source of what a call costs or may cost. */
export interface Prices {
  /** Returns the cost of a usage at the request's admission. For an unknown model it is the ceiling, never 0. */
  price(target: Target, usage: Usage, atMs: number): Cost
  /** Returns upper bounds for calls of up to so many input tokens: on the same terms no usage of that size costs more. */
  rates(target: Target, call: ExpectedCall, atMs: number): Rates
}

/** Splits costs by class. */
export interface CostSplitter {
  /** Returns the cost of a usage by class, which adds up to its price. */
  split(target: Target, usage: Usage, atMs: number): CostByClass
}

/** The classes of a request that cost nothing. */
export const NO_COST: CostByClass = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  serverTools: 0,
}

/** Returns the target that answered; `undefined` when a plugin did, or nothing has yet. */
export function answererOf({ calls }: Pick<Exchange, 'calls'>): Target | undefined {
  const last = calls.findLast(({ outcome }) => outcome === 'answered')
  return last && { provider: last.provider, model: last.model }
}

/** Returns the bounds of a call on the terms that its request asks for; discounts are not assumed. */
export function ratesOf(
  { client }: Pick<Exchange, 'client'>,
  prices: Prices,
  { target, inputTokens, atMs }: { target: Target; inputTokens: number; atMs: number },
): Rates {
  const terms = {
    ...wordOf('serviceTier', client.document.field('service_tier')),
    ...wordOf('inferenceGeo', client.document.field('inference_geo')),
    ...wordOf('speed', client.document.field('speed')),
  }
  const usual = prices.rates(target, { inputTokens }, atMs)
  if (Object.keys(terms).length === 0) return usual
  const asked = prices.rates(target, { inputTokens, ...terms }, atMs)
  return asked.outputNanoUsd > usual.outputNanoUsd ? asked : usual
}

function wordOf(name: keyof PriceTerms, value: unknown): PriceTerms {
  return typeof value === 'string' ? { [name]: value } : {}
}
