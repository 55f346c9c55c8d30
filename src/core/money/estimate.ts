import type { TokenCounter } from '../ports/token-counter.ts'
import type { Exchange, Target } from '../request/exchange.ts'
import { targetsWithNamed } from '../request/named-models.ts'
import type { RequestDocument } from '../request/request.ts'
import { type Prices, ratesOf } from './prices.ts'

/** The request to estimate, and its targets. */
export type Asked = Pick<Exchange, 'request' | 'targets' | 'client'> & Partial<Pick<Exchange, 'storedInputTokens'>>

/** Upper bound of a request's cost, in nano-USD. */
export interface Estimate {
  /** The input at its dearest: all of it written to the prompt cache, where the request has it so. */
  readonly inputNanoUsd: number
  /** One token of output, in each of the requested choices. */
  readonly outputTokenNanoUsd: number
  readonly inputTokens: number
}

/** Services of an estimate. */
interface Estimators {
  readonly tokens: TokenCounter
  readonly prices: Prices
}

/** Number of choices requested, and the moment whose prices apply. */
interface Terms {
  readonly answers: number
  readonly atMs: number
}

/** Safety factor of the input's estimate: on recorded traffic, estimates were never short by more. */
const MARGIN = 1.3
const MARGIN_TOKENS = 32
/** Larger bodies are estimated by their size first: weighing one takes longer than all other work on it. */
const SMALL_BYTES = 4096

/** Estimates a request for so many choices, at the prices of the dearest of the models that may answer it. */
export function estimate(asked: Asked, { tokens, prices }: Estimators, terms: Terms): Estimate {
  const targets = targetsWithNamed(asked.targets, asked.client.document)
  const ownTokens = targets.reduce((most, target) => Math.max(most, sentTokens(asked, tokens, target)), 0)
  const { storedInputTokens = 0 } = asked
  const inputTokens = ownTokens + storedInputTokens
  const mostTokens = withMargin(ownTokens) + storedInputTokens
  return priced(asked, prices, { ...terms, targets, inputTokens, mostTokens })
}

/** Returns the most input tokens that a request of so many estimated ones can have. */
export function withMargin(inputTokens: number): number {
  return Math.ceil(inputTokens * MARGIN) + MARGIN_TOKENS
}

/**
 * Estimates a large request of text by its size, without reading it: never short, and several times the estimate by
 * weight, up to ten times where only so many tokens are dearer. `undefined` for any other request.
 */
export function estimateBySize(asked: Asked, { tokens, prices }: Estimators, terms: Terms): Estimate | undefined {
  const { client } = asked
  if (client.document.bytes.length <= SMALL_BYTES || asked.storedInputTokens) return undefined
  const isNative = client.dialect.name === 'messages'
  if (!isNative && asked.request !== client.canonical) return undefined
  const mostTokens = tokens.mostInputTokens?.(isNative ? asked.request : client.document)
  if (mostTokens === undefined) return undefined
  const targets = targetsWithNamed(asked.targets, client.document)
  return priced(asked, prices, { ...terms, targets, inputTokens: mostTokens, mostTokens })
}

interface Sized extends Terms {
  readonly targets: readonly Target[]
  readonly inputTokens: number
  /** Input tokens, with a margin. */
  readonly mostTokens: number
}

function priced(asked: Asked, prices: Prices, { targets, inputTokens, mostTokens, answers, atMs }: Sized): Estimate {
  const marked = dearest(cacheWritesOf(asked.request), cacheWritesOf(asked.client.document))
  let inputNanoUsd = 0
  let outputTokenNanoUsd = 0
  for (const target of targets) {
    const rates = ratesOf(asked, prices, { target, inputTokens: mostTokens, atMs })
    const writes = writesUnmarked(target) ? dearest(marked, 'cacheWrite5mNanoUsd') : marked
    inputNanoUsd = Math.max(inputNanoUsd, mostTokens * rates[writes] + rates.callNanoUsd)
    outputTokenNanoUsd = Math.max(outputTokenNanoUsd, rates.outputNanoUsd)
  }
  return { inputNanoUsd, outputTokenNanoUsd: outputTokenNanoUsd * answers, inputTokens }
}

/**
 * Counts the input tokens that may be sent. A provider of the client's own dialect gets the client's document, with the fields
 * that plugins have edited translated again; fields that only the document has stay. Other providers get a translation of
 * the canonical request, in which the tools of a Responses request are longer.
 */
function sentTokens({ request, client }: Asked, tokens: TokenCounter, { provider, model: sent }: Target): number {
  const { dialect, document } = client
  const model = nameOf({ provider, model: sent })
  const isTranslated = dialect.name === 'responses' && OF_MESSAGES.has(provider)
  if (dialect.name === 'messages' || isTranslated) return tokens.inputTokens(request, model)
  const written = tokens.inputTokens(document, model, dialect.name)
  if (request === client.canonical && dialect.name === 'chat') return written
  return tokens.inputTokens(request, model) + Math.max(0, written - tokens.inputTokens(client.canonical, model))
}

/** Providers that take the fields of the Messages API: deferred tools are deferred there. */
const OF_MESSAGES: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'vertex'])

/** Returns true for a provider that caches prompts without marks, and may bill the write: OpenAI does from GPT-5.6 on. */
function writesUnmarked({ provider }: Target): boolean {
  return provider === 'openai'
}

/** Returns the model's name for an estimate; for a provider of another API the whole name, which has a slash. */
function nameOf({ provider, model }: Target): string {
  return OF_MESSAGES.has(provider) ? model : `${provider}/${model}`
}

const CACHE_WRITE_RATES = ['inputNanoUsd', 'cacheWrite5mNanoUsd', 'cacheWrite1hNanoUsd'] as const
type CacheWrites = (typeof CACHE_WRITE_RATES)[number]

function dearest(one: CacheWrites, other: CacheWrites): CacheWrites {
  return CACHE_WRITE_RATES.indexOf(one) > CACHE_WRITE_RATES.indexOf(other) ? one : other
}

const WRITE_RATES = { none: 'inputNanoUsd', '5m': 'cacheWrite5mNanoUsd', '1h': 'cacheWrite1hNanoUsd' } as const

/** Returns the rate of input that the body may have written to the prompt cache. */
function cacheWritesOf({ shape }: RequestDocument): CacheWrites {
  return WRITE_RATES[shape.cacheMarks]
}

/**
 * Returns the most output tokens that a request allows. Interleaved thinking may have a budget above `max_tokens` (Claude API,
 * "Extended thinking").
 */
export function mostOutputTokens(request: RequestDocument): number {
  const thinking = request.field('thinking')
  const budget =
    typeof thinking === 'object' && thinking !== null && 'budget_tokens' in thinking ? thinking.budget_tokens : 0
  return Math.max(request.maxTokens, typeof budget === 'number' ? budget : 0)
}

/** Returns the cost of so many output tokens, with the input. */
export function costOf({ inputNanoUsd, outputTokenNanoUsd }: Estimate, outputTokens: number): number {
  return inputNanoUsd + outputTokens * outputTokenNanoUsd
}

/** Returns the output tokens that an amount pays for after the input. May be negative. */
export function tokensFor({ inputNanoUsd, outputTokenNanoUsd }: Estimate, amountNanoUsd: number): number {
  if (outputTokenNanoUsd === 0) return Number.MAX_SAFE_INTEGER
  return Math.floor((amountNanoUsd - inputNanoUsd) / outputTokenNanoUsd)
}
