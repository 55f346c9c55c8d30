import { createStringSearch } from '../json/string-search.ts'
import type { TokenCounter } from '../ports/token-counter.ts'
import type { Exchange, Target } from '../request/exchange.ts'
import { targetsWithNamed } from '../request/named-models.ts'
import type { RequestDocument } from '../request/request.ts'
import type { Prices } from './caps.ts'
import { priceFactor } from './price-factor.ts'

/** What is asked, and of whom. */
export type Asked = Pick<Exchange, 'request' | 'targets' | 'client'>

/** What a request may cost, in nano-dollars. */
export interface Estimate {
  /** The input, in the form that costs most: all of it written to the prompt cache, where the request asks for that. */
  readonly inputNanoUsd: number
  /** One token of output, in each of the answers that are asked for. */
  readonly outputTokenNanoUsd: number
  readonly inputTokens: number
}

/** The estimate of the input may be short; by so much it never was on recorded traffic. */
const MARGIN = 1.3
const MARGIN_TOKENS = 32
const CACHE_CONTROL = createStringSearch('cache_control')
const ONE_HOUR = createStringSearch('1h')
const CACHE_WRITES = Symbol('cache writes')

/** Estimates a request for so many answers, at the prices of the dearest of the models that may answer it. */
export function estimate(
  asked: Asked,
  { tokens, prices }: { tokens: TokenCounter; prices: Prices },
  { answers, atMs }: { answers: number; atMs: number },
): Estimate {
  const { request, client } = asked
  const targets = targetsWithNamed(asked.targets, client.document)
  const inputTokens = targets.reduce((most, target) => Math.max(most, sentTokens(asked, tokens, nameOf(target))), 0)
  const bounded = Math.ceil(inputTokens * MARGIN) + MARGIN_TOKENS
  const writes = dearest(cacheWritesOf(request), cacheWritesOf(client.document))
  let inputNanoUsd = 0
  let outputTokenNanoUsd = 0
  for (const target of targets) {
    const rates = prices.rates(target, bounded, atMs)
    const factor = priceFactor(asked, prices, { target, atMs })
    inputNanoUsd = Math.max(inputNanoUsd, Math.ceil(bounded * rates[writes] * factor) + rates.callNanoUsd)
    outputTokenNanoUsd = Math.max(outputTokenNanoUsd, Math.ceil(rates.outputNanoUsd * factor))
  }
  return { inputNanoUsd, outputTokenNanoUsd: outputTokenNanoUsd * answers, inputTokens }
}

/**
 * Input tokens of what may be sent. A provider that speaks chat completions is sent the client's own document, with the
 * fields that modules have edited translated again; what the document has beyond its translation stays.
 */
function sentTokens({ request, client }: Asked, tokens: TokenCounter, model: string): number {
  const { dialect, document } = client
  if (dialect.name === 'messages') return tokens.inputTokens(request, model)
  const written = tokens.inputTokens(document, model, dialect.name)
  if (request === client.canonical) return written
  return tokens.inputTokens(request, model) + Math.max(0, written - tokens.inputTokens(client.canonical, model))
}

/** The providers that are sent the fields of the Messages API: deferred tools are deferred there. */
const OF_MESSAGES: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'vertex'])

/** The model's name for an estimate; behind a provider of another API its whole name, which has a slash. */
function nameOf({ provider, model }: Target): string {
  return OF_MESSAGES.has(provider) ? model : `${provider}/${model}`
}

const CACHE_WRITE_RATES = ['inputNanoUsd', 'cacheWrite5mNanoUsd', 'cacheWrite1hNanoUsd'] as const
type CacheWrites = (typeof CACHE_WRITE_RATES)[number]

function dearest(one: CacheWrites, other: CacheWrites): CacheWrites {
  return CACHE_WRITE_RATES.indexOf(one) > CACHE_WRITE_RATES.indexOf(other) ? one : other
}

/** The rate of input that the body may ask to be written to the prompt cache. */
function cacheWritesOf(request: RequestDocument): CacheWrites {
  return request.fact(CACHE_WRITES, ({ bytes }) => {
    const text = bytes.toString('latin1')
    if (!CACHE_CONTROL.test(text)) return 'inputNanoUsd'
    return ONE_HOUR.test(text) ? 'cacheWrite1hNanoUsd' : 'cacheWrite5mNanoUsd'
  })
}

/**
 * The most output tokens that a request allows. Interleaved thinking may have a budget above `max_tokens` (Claude API,
 * "Extended thinking").
 */
export function mostOutputTokens(request: RequestDocument): number {
  const thinking = request.field('thinking')
  const budget =
    typeof thinking === 'object' && thinking !== null && 'budget_tokens' in thinking ? thinking.budget_tokens : 0
  return Math.max(request.maxTokens, typeof budget === 'number' ? budget : 0)
}

/** The cost of so many output tokens, with the input. */
export function costOf({ inputNanoUsd, outputTokenNanoUsd }: Estimate, outputTokens: number): number {
  return inputNanoUsd + outputTokens * outputTokenNanoUsd
}

/** How many output tokens an amount pays for, when the input is paid. May be negative. */
export function tokensFor({ inputNanoUsd, outputTokenNanoUsd }: Estimate, amountNanoUsd: number): number {
  if (outputTokenNanoUsd === 0) return Number.MAX_SAFE_INTEGER
  return Math.floor((amountNanoUsd - inputNanoUsd) / outputTokenNanoUsd)
}
