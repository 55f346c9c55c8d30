import type { MetricDefinition } from './definitions.ts'

/** Bound of the series of one metric: all labels but models come from bounded sets; further series share one. */
const MOST_SERIES = 1000
const OTHER = 'other'
const SEPARATOR = '\u0000'

/** One series of a metric: its label values in order, and its value. */
export type Sample = readonly [labels: readonly string[], value: number | readonly number[]]

/** The series of a counter or a gauge. */
export class Values {
  readonly #width: number
  readonly #byLabels = new Map<string, number>()

  constructor({ labels }: MetricDefinition) {
    this.#width = labels.length
  }

  add(amount: number, ...labels: readonly string[]): void {
    const key = keyOf(this.#byLabels, labels, this.#width)
    this.#byLabels.set(key, (this.#byLabels.get(key) ?? 0) + amount)
  }

  set(value: number, ...labels: readonly string[]): void {
    this.#byLabels.set(keyOf(this.#byLabels, labels, this.#width), value)
  }

  samples(): Sample[] {
    return [...this.#byLabels].map(([key, value]) => [labelsOf(key, this.#width), value])
  }
}

/** The series of one histogram. */
export class Distributions {
  readonly #width: number
  readonly #buckets: readonly number[]
  /** Counts by bucket, then the count above them all, then the sum. */
  readonly #byLabels = new Map<string, Float64Array>()

  constructor({ labels, buckets = [] }: MetricDefinition) {
    this.#width = labels.length
    this.#buckets = buckets
  }

  observe(value: number, ...labels: readonly string[]): void {
    const key = keyOf(this.#byLabels, labels, this.#width)
    let cells = this.#byLabels.get(key)
    if (cells === undefined) {
      cells = new Float64Array(this.#buckets.length + 2)
      this.#byLabels.set(key, cells)
    }
    let bucket = 0
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] as number)) bucket++ // safe: within
    cells[bucket] = (cells[bucket] ?? 0) + 1
    const sum = cells.length - 1
    cells[sum] = (cells[sum] ?? 0) + value
  }

  samples(): Sample[] {
    return [...this.#byLabels].map(([key, cells]) => [labelsOf(key, this.#width), [...cells]])
  }
}

function keyOf(known: ReadonlyMap<string, unknown>, labels: readonly string[], width: number): string {
  const key = width === 1 ? (labels[0] ?? '') : labels.join(SEPARATOR)
  if (known.has(key) || known.size < MOST_SERIES) return key
  return Array.from({ length: width }, () => OTHER).join(SEPARATOR)
}

function labelsOf(key: string, width: number): string[] {
  return width === 0 ? [] : key.split(SEPARATOR)
}
