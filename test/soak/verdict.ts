import { createChance } from './random.ts'
import { growthOf, quantile, type Sample, slopeOf } from './statistics.ts'

/*
 * DESIGN. A series fails when its slope over the last half of the day is positive beyond noise and a day of that slope is more
 * than a share and an amount: a series without noise would prove a slope of one byte. Rejected: least squares (one collection
 * moves it), a bootstrap of single samples (neighbours are alike; blocks of √n gave false alarms in two of twenty days, blocks
 * of a fifth of the samples in none). A leak of less than a tenth of the memory in a day passes.
 */

/** A repeated measurement, and its allowed growth. */
export interface Series {
  readonly name: string
  readonly unit: Unit
  /** Growth in a day that is no leak: a share of the level, and an amount in `unit`, whichever is more. */
  readonly mayGrow: { readonly share: number; readonly amount: number }
  /** `at`: from 0, the begin of the day, to 1, its end. */
  readonly samples: readonly Sample[]
}

/** Unit of printed values. */
export type Unit = 'bytes' | 'count' | 'ms'

/** Added latencies in milliseconds, grouped by the interval they were measured in. */
export type Latencies = readonly number[][]

/** Result of one check. */
export interface Finding {
  readonly name: string
  readonly isFine: boolean
  /** Level, growth in a day, its interval and the allowance; or a finding, in one. */
  readonly cells: readonly string[]
}

/** By how much p99 of the added latency may be above that of the second quarter, as a factor. */
const ALLOWED_FACTOR = 1.25
/** By what share of it the traffic may change in half a day. */
const STEADY = 0.2
/** With fewer samples in the last half of a day there is no verdict. */
const FEWEST_SAMPLES = 30

/**
 * Judges whether a series grows: its slope over the last half of the day is positive beyond noise, and a whole day of it
 * would be more than it may grow.
 */
export function judgeSeries({ name, unit, mayGrow, samples }: Series, seed: number): Finding {
  const lastHalf = samples.filter(({ at }) => at >= 0.5)
  const values = lastHalf.map(({ value }) => value)
  const level = quantile(values, 0.5)
  if (lastHalf.length < FEWEST_SAMPLES) return tooShort(name, lastHalf.length === 0 ? '' : print(level, unit))
  const slope = slopeOf(lastHalf, { chance: createChance(seed) })
  const allowed = Math.max(level * mayGrow.share, mayGrow.amount)
  return {
    name,
    isFine: !(slope.low > 0 && slope.perUnit > allowed),
    cells: [
      print(level, unit),
      print(slope.perUnit, unit),
      `${print(slope.low, unit)} … ${print(slope.high, unit)}`,
      print(allowed, unit),
    ],
  }
}

/** Judges whether p99 of the added latency is higher in the last quarter than in the second, beyond noise and by a quarter. */
export function judgeLatency(latencies: Latencies, seed: number): Finding {
  const name = 'added latency, p99: last quarter / second'
  const quarter = Math.floor(latencies.length / 4)
  if (quarter < FEWEST_SAMPLES / 2) return tooShort(name, '')
  const before = latencies.slice(quarter, 2 * quarter)
  const after = latencies.slice(-quarter)
  const { factor, low, high } = growthOf({ before, after, share: 0.99 }, { chance: createChance(seed) })
  const level = print(quantile(after.flat(), 0.99), 'ms')
  return {
    name,
    isFine: !(low > 1 && factor > ALLOWED_FACTOR),
    cells: [level, `× ${factor.toFixed(2)}`, `${low.toFixed(2)} … ${high.toFixed(2)}`, `× ${ALLOWED_FACTOR}`],
  }
}

/** Judges whether the traffic was constant: otherwise its effects look like leaks, or hide them. */
export function judgeTraffic(latencies: Latencies): Finding {
  const quarter = Math.floor(latencies.length / 4)
  const count = (groups: Latencies): number => groups.flat().length
  const before = count(latencies.slice(quarter, 2 * quarter))
  const after = count(latencies.slice(-quarter))
  const name = 'steady traffic: answers of the second and the last quarter'
  if (quarter < FEWEST_SAMPLES / 2) return tooShort(name, '')
  return { name, isFine: Math.abs(after - before) <= STEADY * before, cells: [`${before}, ${after}`] }
}

function tooShort(name: string, level: string): Finding {
  return { name, isFine: true, cells: [level, 'too short to tell'] }
}

function print(value: number, unit: Unit): string {
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(2)} MB`
  return unit === 'ms' ? `${value.toFixed(1)} ms` : value.toFixed(1)
}
