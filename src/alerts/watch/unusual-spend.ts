/**
 * DESIGN — spend unlike the last weeks
 *
 * Compares what today has cost until now with what the same weekday had cost by the end of this hour in each of up to eight
 * weeks before. Median and MAD (median absolute deviation) ignore single odd weeks, such as a holiday. An alert needs all of:
 * at least three weeks, `DEVIATIONS` robust deviations above the median, `LEAST_FACTOR` times the median, and a difference of a
 * floor in USD and of half a usual day. The first three keep small samples quiet, the last two small sums and early hours. It
 * depends on nothing but its input.
 */
const DEVIATIONS = 6
/** Ratio of the standard deviation to the MAD of a normal distribution. */
const SIGMA_OF_MAD = 1.4826
const LEAST_FACTOR = 2.5
const LEAST_SHARE_OF_DAY = 0.5
const FEWEST_WEEKS = 3

/** Sums of one weekday until the same hour. */
export interface SpendPace {
  readonly todayNanoUsd: number
  /** The same of earlier weeks, in any order. */
  readonly pastNanoUsd: readonly number[]
  /** The whole days of these. */
  readonly pastDaysNanoUsd: readonly number[]
  /** Least difference that counts. */
  readonly floorNanoUsd: number
}

/** The usual spend, and the bound that today has passed. */
export interface UnusualSpend {
  readonly usualNanoUsd: number
  readonly boundNanoUsd: number
}

/** Returns the bound that today's spend has passed; `undefined` where it is within, or too little is known. */
export function findUnusualSpend({
  todayNanoUsd,
  pastNanoUsd,
  pastDaysNanoUsd,
  floorNanoUsd,
}: SpendPace): UnusualSpend | undefined {
  if (pastNanoUsd.length < FEWEST_WEEKS) return undefined
  const usualNanoUsd = medianOf(pastNanoUsd)
  const mad = medianOf(pastNanoUsd.map((sum) => Math.abs(sum - usualNanoUsd)))
  const ofDay = LEAST_SHARE_OF_DAY * medianOf(pastDaysNanoUsd)
  const margin = Math.max(DEVIATIONS * SIGMA_OF_MAD * mad, (LEAST_FACTOR - 1) * usualNanoUsd, ofDay, floorNanoUsd)
  const boundNanoUsd = Math.ceil(usualNanoUsd + margin)
  return todayNanoUsd > boundNanoUsd ? { usualNanoUsd: Math.round(usualNanoUsd), boundNanoUsd } : undefined
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}
