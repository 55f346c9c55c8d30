/**
 * DESIGN — prices of a model, and the computation of a bill
 *
 * Purpose: one shape for prices of every origin. Guarantees: integers all the way. Prices are pico-USD (10^-12) per token,
 * fine enough for every listed one (0.0375 USD a million is 37,500), factors are millionths, and a bill is rounded once, up,
 * to whole nano-USD. Limits: no prices of audio, images or video, which usage does not report.
 *
 *   tokens × rates of the step of this input × factors of tier, region, speed  +  requests × fees   ──►  nano-USD, up
 */
import type { Cost, CostByClass, PriceTerms, Rates } from '../../core/money/prices.ts'
import { reasoningTokensOf, type Usage } from '../../core/reply/usage.ts'
import { divideUp, scaleUp } from './decimal.ts'

/** Source of a price, from the most to the least certain. */
export type PriceSource = Cost['source']

/** Pico-USD per token. */
export interface TokenRates {
  readonly input: bigint
  readonly cacheRead: bigint
  readonly cacheWrite5m: bigint
  readonly cacheWrite1h: bigint
  readonly output: bigint
}

/** Rates of calls with more than this many input tokens, cached ones included. */
export interface PriceStep {
  readonly aboveInputTokens: number
  readonly rates: TokenRates
}

/** A model's price at a moment. */
export interface PriceSheet {
  readonly source: PriceSource
  /** `<provider>/<model>` of the catalogue, or the operator's entry; `undefined` for the ceiling. */
  readonly matched: string | undefined
  /** From the smallest size up; the first is above 0, and all of the input has the rates of its step. */
  readonly steps: readonly [PriceStep, ...PriceStep[]]
  /** Pico-USD per request; `undefined` when unknown. */
  readonly webSearch: bigint | undefined
  readonly webFetch: bigint
  /** Pico-USD per call. */
  readonly call: bigint
  /** Millionths by the values of `PriceTerms`; an unlisted value leaves the price unchanged. */
  readonly factors: ReadonlyMap<string, bigint>
}

/** A factor of 1. */
export const UNIT_FACTOR = 1_000_000n
const PICO_PER_NANO = 1000n
const LARGEST_NANO_USD = BigInt(Number.MAX_SAFE_INTEGER)

/** Converts USD per million tokens to pico-USD per token, rounded up. */
export function perToken(usdPerMillion: number): bigint {
  return scaleUp(usdPerMillion, 6)
}

/** Converts USD per thousand requests to pico-USD per request, rounded up. */
export function perRequest(usdPerThousand: number): bigint {
  return scaleUp(usdPerThousand, 9)
}

/** Converts a factor to millionths, rounded up. */
export function toFactor(factor: number): bigint {
  return scaleUp(factor, 6)
}

/**
 * Returns the cost of a usage in nano-USD, rounded up once; at most 2^53 - 1. `webSearch` is the price of searches, in
 * pico-USD, where the sheet has none.
 */
export function costOf(sheet: PriceSheet, usage: Usage, webSearch: bigint): number {
  const written1h = usage.cacheCreation?.ephemeral1h ?? 0
  const written5m = usage.cacheCreationInputTokens - written1h
  const total = usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = stepOf(sheet, total).rates
  const tokens =
    BigInt(usage.inputTokens) * input +
    BigInt(usage.cacheReadInputTokens) * cacheRead +
    BigInt(written5m) * cacheWrite5m +
    BigInt(written1h) * cacheWrite1h +
    BigInt(usage.outputTokens) * output
  return toNanoUsd(tokens, sheet, { terms: usage, fees: feesOf(sheet, usage, webSearch) })
}

function feesOf(sheet: PriceSheet, usage: Usage, webSearch: bigint): bigint {
  const { inputTokens, cacheReadInputTokens, cacheCreationInputTokens, outputTokens } = usage
  const tokens = inputTokens + cacheReadInputTokens + cacheCreationInputTokens + outputTokens
  const requests =
    BigInt(usage.webSearchRequests) * (sheet.webSearch ?? webSearch) + BigInt(usage.webFetchRequests) * sheet.webFetch
  return requests + (tokens > 0 ? sheet.call : 0n)
}

/**
 * Returns the cost of a usage by class, as `costOf` computes it. Each class is the rounded sum so far less the rounded sum
 * before it, so that together they are the rounded whole.
 */
export function costByClass(sheet: PriceSheet, usage: Usage, webSearch: bigint): CostByClass {
  const written1h = usage.cacheCreation?.ephemeral1h ?? 0
  const total = usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = stepOf(sheet, total).rates
  const reasoning = reasoningTokensOf(usage)
  let tokens = 0n
  let before = 0
  const next = (count: number, rate: bigint, fees = 0n): number => {
    tokens += BigInt(count) * rate
    const sum = toNanoUsd(tokens, sheet, { terms: usage, fees })
    const part = sum - before
    before = sum
    return part
  }
  return {
    input: next(usage.inputTokens, input),
    cacheRead: next(usage.cacheReadInputTokens, cacheRead),
    cacheWrite5m: next(usage.cacheCreationInputTokens - written1h, cacheWrite5m),
    cacheWrite1h: next(written1h, cacheWrite1h),
    output: next(usage.outputTokens - reasoning, output),
    reasoning: next(reasoning, output),
    serverTools: next(0, 0n, feesOf(sheet, usage, webSearch)),
  }
}

type TokenBounds = Omit<Rates, 'webSearchNanoUsd' | 'webFetchNanoUsd' | 'callNanoUsd'>

/** Returns the highest rates of a call with at most this many input tokens, on these terms. */
export function boundsOf(sheet: PriceSheet, inputTokens: number, terms: PriceTerms): TokenBounds {
  const rates = sheet.steps.filter(({ aboveInputTokens: above }) => above === 0 || above < inputTokens)
  const dearest = (name: keyof TokenRates) => {
    const [most = 0n] = rates.map((step) => step.rates[name]).sort((a, b) => (a < b ? 1 : -1))
    return toNanoUsd(most, sheet, { terms, fees: 0n })
  }
  return {
    inputNanoUsd: dearest('input'),
    cacheReadNanoUsd: dearest('cacheRead'),
    cacheWrite5mNanoUsd: dearest('cacheWrite5m'),
    cacheWrite1hNanoUsd: dearest('cacheWrite1h'),
    outputNanoUsd: dearest('output'),
  }
}

/** Converts pico-USD to nano-USD, rounded up; at most 2^53 - 1. */
export function nanoUsdOf(pico: bigint): number {
  return toSafeInteger(divideUp(pico, PICO_PER_NANO))
}

function toNanoUsd(tokens: bigint, sheet: PriceSheet, { terms, fees }: { terms: PriceTerms; fees: bigint }): number {
  let numerator = tokens
  let divisor = 1n
  for (const word of [terms.serviceTier, terms.inferenceGeo, terms.speed]) {
    const factor = word === undefined ? undefined : sheet.factors.get(word)
    if (factor === undefined) continue
    numerator *= factor
    divisor *= UNIT_FACTOR
  }
  return toSafeInteger(divideUp(numerator + fees * divisor, divisor * PICO_PER_NANO))
}

/** Clamps to the largest safe integer: an absurd count from a broken provider must not become an inexact sum. */
function toSafeInteger(nanoUsd: bigint): number {
  return Number(nanoUsd < LARGEST_NANO_USD ? nanoUsd : LARGEST_NANO_USD)
}

function stepOf({ steps }: PriceSheet, inputTokens: number): PriceStep {
  return steps.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens) ?? steps[0]
}
