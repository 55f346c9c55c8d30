import type { Chance } from './random.ts'

/*
 * DESIGN. Whether a series rises, asked of samples that are neither normal nor independent: heaps saw, files grow in
 * steps, and one collection of garbage shadows the next.
 *
 *   slope      Theil–Sen: the median of the slopes of all pairs, which a third of wild samples cannot move
 *   interval   moving-block bootstrap of what is left beside the slope: blocks keep neighbours together, so that a slow
 *              wave is not taken for certainty
 *
 * Limits: n² pairs, so series are of hundreds of samples, not of thousands.
 */

/** A value at a moment; both in units of the caller's. */
export interface Sample {
  readonly at: number
  readonly value: number
}

/** A range that holds the true value, as far as resampling can show. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** A slope in value units per unit of time, with its interval. */
export interface Slope extends Interval {
  readonly perUnit: number
}

/** Confidence and number of resamples. */
export interface Resampling {
  readonly chance: Chance
  /** Share of resamples within the interval, below 1. Default 0.99: a drill checks some forty series. */
  readonly confidence?: number
  /** Default 200. */
  readonly rounds?: number
}

const DEFAULT_CONFIDENCE = 0.99
const DEFAULT_ROUNDS = 200

/** Returns the quantile of a share of the values, between neighbours in proportion; `NaN` of none. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort() // by number, and many times as fast as an array's with a comparison
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? below
  return below + (above - below) * (place - Math.floor(place))
}

/** Returns the slope by Theil and Sen; 0 of fewer than two moments. */
export function theilSen(samples: readonly Sample[]): number {
  const slopes: number[] = []
  for (const [index, from] of samples.entries())
    for (let other = 0; other < index; other++) {
      const to = samples[other] as Sample // safe: below the index
      if (to.at !== from.at) slopes.push((to.value - from.value) / (to.at - from.at))
    }
  return slopes.length === 0 ? 0 : quantile(slopes, 0.5)
}

/** Returns the slope with the interval that its own noise leaves. */
export function slopeOf(samples: readonly Sample[], { chance, confidence, rounds }: Resampling): Slope {
  const perUnit = theilSen(samples)
  const rest = samples.map(({ at, value }) => value - perUnit * at)
  const errors = Array.from({ length: rounds ?? DEFAULT_ROUNDS }, () => {
    const noise = resample(rest, chance)
    return theilSen(samples.map(({ at }, index) => ({ at, value: noise[index] ?? 0 })))
  })
  const { low, high } = intervalOf(errors, confidence)
  return { perUnit, low: perUnit + low, high: perUnit + high }
}

/**
 * By how much the quantile of `after` is above that of `before`, as a factor. Both are lists of groups, each of values
 * measured close together, which are resampled as a whole: a slow second makes all its values slow.
 */
export function growthOf(
  { before, after, share }: { before: readonly number[][]; after: readonly number[][]; share: number },
  { chance, confidence, rounds }: Resampling,
): { factor: number } & Interval {
  const factorOf = (earlier: readonly number[][], later: readonly number[][]): number =>
    quantile(later.flat(), share) / quantile(earlier.flat(), share)
  const draw = (groups: readonly number[][]): number[][] => groups.map(() => chance.pick(groups))
  const factors = Array.from({ length: rounds ?? DEFAULT_ROUNDS }, () => factorOf(draw(before), draw(after)))
  return { factor: factorOf(before, after), ...intervalOf(factors, confidence) }
}

/** As many values in blocks of neighbours, each block from anywhere in the series. */
function resample(values: readonly number[], chance: Chance): number[] {
  const length = Math.max(1, Math.round(values.length / 5))
  const drawn: number[] = []
  while (drawn.length < values.length) {
    const start = chance.below(values.length - length + 1)
    drawn.push(...values.slice(start, start + length))
  }
  return drawn.slice(0, values.length)
}

function intervalOf(values: readonly number[], confidence = DEFAULT_CONFIDENCE): Interval {
  const tail = (1 - confidence) / 2
  return { low: quantile(values, tail), high: quantile(values, 1 - tail) }
}
