import type { Prices } from '../../core/money/prices.ts'
import { readUsage, type Usage } from '../../core/reply/usage.ts'
import type { Target } from '../../core/request/target.ts'

/** Prices in USD as decimal texts without an exponent, per token; `request` per call. The members are OpenRouter's. */
export interface ListedPrice {
  readonly prompt: string
  readonly completion: string
  readonly input_cache_read: string
  readonly input_cache_write: string
  readonly request: string
}

/** A thousand tokens at one nano-USD are a pico-USD for each. */
const TOKENS = 1000
const PICO_DIGITS = 12
const NANO_DIGITS = 9

/** Creates a look-up of what a model costs, on usual terms and below any long context; `undefined` for an unknown price. */
export function createListedPrices(prices: Prices, nowMs: () => number): (target: Target) => ListedPrice | undefined {
  return (target) => {
    const atMs = nowMs()
    const cost = (usage: Usage) => prices.price(target, usage, atMs)
    if (cost(usageOf('input_tokens', TOKENS)).source === 'ceiling') return undefined
    const nanoUsd = (name: string, thousands: number) => cost(usageOf(name, thousands * TOKENS)).costNanoUsd
    // The difference of two sizes leaves out the price of the call.
    const perToken = (name: string) => decimalOf(nanoUsd(name, 2) - nanoUsd(name, 1), PICO_DIGITS)
    return {
      prompt: perToken('input_tokens'),
      completion: perToken('output_tokens'),
      input_cache_read: perToken('cache_read_input_tokens'),
      input_cache_write: perToken('cache_creation_input_tokens'),
      request: decimalOf(2 * nanoUsd('input_tokens', 1) - nanoUsd('input_tokens', 2), NANO_DIGITS),
    }
  }
}

function usageOf(name: string, tokens: number): Usage {
  return readUsage({ [name]: tokens }) as Usage // safe: it has a token count
}

/** Returns `value` × 10^-`digits`: `3000000` pico-USD are `0.000003`. */
function decimalOf(value: number, digits: number): string {
  const text = String(value).padStart(digits + 1, '0')
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, '')
}
