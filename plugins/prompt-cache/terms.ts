import type { Exchange } from 'turnpike/plugin'
import { type Prices, ratesOf } from 'turnpike/plugin/spend'
import { type CacheTraits, cacheTraitsOf } from './cache-traits.ts'
import { canPay, type InputPrices, type Lifetime } from './economics.ts'

/** Terms of a request's target that decide about marks. */
export interface Terms extends Pick<CacheTraits, 'writes' | 'leastTokens'> {
  readonly prices: InputPrices
}

/** Sources of the terms. */
export interface TermsInput {
  readonly prices: Prices
  readonly longest: Lifetime
  readonly nowMs: number
}

/** Members of OpenAI's requests that control its cache. */
const OPENAI_FIELDS = ['prompt_cache_options', 'prompt_cache_retention']
const OPENAI_MARK = '"prompt_cache_breakpoint"'

/** Returns the terms of a request, or the reason why nothing is done for it. */
export function termsOf(exchange: Exchange, { prices, longest, nowMs }: TermsInput): Terms | string {
  const traits = exchange.targets.map(cacheTraitsOf)
  const [first] = traits
  if (first === undefined || traits.some((each) => each?.writes !== first.writes)) return 'a target takes no marks'
  if (hasOwnMarks(exchange)) return 'the client sets marks'
  if (exchange.trace.some(({ module }) => module === 'cost-guard'))
    return 'behind cost-guard, which holds no money for marks'
  const input = inputPricesOf(exchange, prices, nowMs)
  if (input === undefined || !canPay(input)) return 'the model has no price for reads of its cache'
  if (first.writes === 'all' && input.write['5m'] <= 1) return 'the model has no price for writes to its cache'
  const takesHour = longest === '1h' && traits.every((each) => each?.takesHour)
  const leastTokens = Math.max(...traits.map((each) => each?.leastTokens ?? 0))
  return { writes: first.writes, prices: takesHour ? input : withoutHour(input), leastTokens }
}

function hasOwnMarks({ request, client: { document } }: Exchange): boolean {
  if (request.shape.cacheMarks !== 'none' || document.shape.cacheMarks !== 'none') return true
  return OPENAI_FIELDS.some((name) => document.shape.fields.has(name)) || document.bytes.includes(OPENAI_MARK)
}

function withoutHour({ read, write }: InputPrices): InputPrices {
  return { read, write: { ...write, '1h': Number.POSITIVE_INFINITY } }
}

/** Returns the prices relative to input; its length changes all of them alike. */
function inputPricesOf(exchange: Exchange, prices: Prices, atMs: number): InputPrices | undefined {
  const rates = ratesOf(exchange, prices, { target: exchange.target, inputTokens: 0, atMs })
  const { inputNanoUsd, cacheReadNanoUsd, cacheWrite5mNanoUsd, cacheWrite1hNanoUsd } = rates
  if (inputNanoUsd === 0) return undefined
  return {
    read: cacheReadNanoUsd / inputNanoUsd,
    write: { '5m': cacheWrite5mNanoUsd / inputNanoUsd, '1h': cacheWrite1hNanoUsd / inputNanoUsd },
  }
}
