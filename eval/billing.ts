import { openCatalogue } from '../src/spend/prices/catalogue.ts'

/** Model whose list prices evaluations use. */
const BILLED_MODEL = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
const PICO_PER_USD = 1e12

/** Tokens of a prompt by their price. */
export interface BilledTokens {
  readonly uncachedTokens: number
  readonly readTokens: number
  readonly writtenTokens: number
}

/**
 * Pico-USD per token, from the price book: of fresh input, of a read from the prompt cache, of a write that lasts five
 * minutes.
 */
export const RATES = ratesOf(BILLED_MODEL)

function ratesOf(target: typeof BILLED_MODEL): {
  readonly fresh: number
  readonly read: number
  readonly write: number
} {
  const sheet = openCatalogue()(target)?.sheetAt(Date.UTC(2026, 0))
  if (sheet === undefined) throw new Error(`Expected the catalogue to have ${target.model}, got none`)
  const { input, cacheRead, cacheWrite5m } = sheet.steps[0].rates
  return { fresh: Number(input), read: Number(cacheRead), write: Number(cacheWrite5m) }
}

/** Returns the price of these tokens, in pico-USD. */
export function billedPicoUsd({ uncachedTokens, readTokens, writtenTokens }: BilledTokens): number {
  return uncachedTokens * RATES.fresh + readTokens * RATES.read + writtenTokens * RATES.write
}

/** Returns the price in USD, for display. */
export function billedUsd(tokens: BilledTokens): number {
  return billedPicoUsd(tokens) / PICO_PER_USD
}

/** Returns the shares of fresh, read and written tokens, as `2/88/10` per cent. */
export function sharesText({ uncachedTokens, readTokens, writtenTokens }: BilledTokens): string {
  const sum = uncachedTokens + readTokens + writtenTokens
  const percent = (tokens: number) => Math.round((100 * tokens) / Math.max(1, sum))
  return [uncachedTokens, readTokens, writtenTokens].map(percent).join('/')
}

/** Returns the sum of several prompts' tokens. */
export function sumOfTokens(all: readonly BilledTokens[]): BilledTokens {
  const sum = (of: (tokens: BilledTokens) => number) => all.reduce((total, tokens) => total + of(tokens), 0)
  return {
    uncachedTokens: sum((tokens) => tokens.uncachedTokens),
    readTokens: sum((tokens) => tokens.readTokens),
    writtenTokens: sum((tokens) => tokens.writtenTokens),
  }
}
