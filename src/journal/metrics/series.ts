import type { MetricDefinition } from './definitions.ts'

/** Default bound of the series of one metric: all labels but models come from bounded sets; further series share one. */
const MOST_SERIES = 1000
const OTHER = 'other'

/** One series of a metric: its label values in order, and its value. */
export type Sample = readonly [labels: readonly string[], value: number | readonly number[]]

/** A node of the tree of label values, one level for each label. */
class Branch<Cell> {
  readonly branches = new Map<string, Branch<Cell>>()
  cell: Cell | undefined
}

/** Finds the cell of a series by its label values, without printing them as one key. */
class Cells<Cell> {
  readonly #create: () => Cell
  readonly #most: number
  readonly #root = new Branch<Cell>()
  readonly #series: [labels: readonly string[], cell: Cell][] = []

  constructor(create: () => Cell, most: number = MOST_SERIES) {
    this.#create = create
    this.#most = most
  }

  /** All series, in the order of their first use. */
  get series(): readonly (readonly [labels: readonly string[], cell: Cell])[] {
    return this.#series
  }

  of(labels: readonly string[]): Cell {
    let branch: Branch<Cell> | undefined = this.#root
    for (const label of labels) branch = branch?.branches.get(label)
    return branch?.cell ?? this.#add(this.#series.length < this.#most ? labels : labels.map(() => OTHER))
  }

  #add(labels: readonly string[]): Cell {
    let branch = this.#root
    for (const label of labels) {
      const next: Branch<Cell> = branch.branches.get(label) ?? new Branch()
      branch.branches.set(label, next)
      branch = next
    }
    if (branch.cell === undefined) {
      branch.cell = this.#create()
      this.#series.push([labels, branch.cell])
    }
    return branch.cell
  }
}

/** The series of a counter or a gauge. */
export class Values {
  readonly #cells: Cells<{ value: number }>

  constructor({ mostSeries }: Pick<MetricDefinition, 'mostSeries'> = {}) {
    this.#cells = new Cells(() => ({ value: 0 }), mostSeries)
  }

  add(amount: number, ...labels: readonly string[]): void {
    this.#cells.of(labels).value += amount
  }

  set(value: number, ...labels: readonly string[]): void {
    this.#cells.of(labels).value = value
  }

  samples(): Sample[] {
    return this.#cells.series.map(([labels, { value }]) => [labels, value])
  }
}

/** The series of one histogram. */
export class Distributions {
  readonly #buckets: readonly number[]
  /** Counts by bucket, then the count above them all, then the sum. */
  readonly #cells: Cells<Float64Array>

  constructor({ buckets = [], mostSeries }: MetricDefinition) {
    this.#buckets = buckets
    this.#cells = new Cells(() => new Float64Array(buckets.length + 2), mostSeries)
  }

  observe(value: number, ...labels: readonly string[]): void {
    const cells = this.#cells.of(labels)
    let bucket = 0
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] as number)) bucket++ // safe: within
    cells[bucket] = (cells[bucket] ?? 0) + 1
    const sum = cells.length - 1
    cells[sum] = (cells[sum] ?? 0) + value
  }

  samples(): Sample[] {
    return this.#cells.series.map(([labels, cells]) => [labels, [...cells]])
  }
}
