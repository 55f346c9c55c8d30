import { VECTOR_SCALE } from '../embedder.ts'
import { createGraph, type Graph } from './graph.ts'

/** Answered text, with the key of its answer. */
export interface Candidate {
  readonly key: string
  readonly text: string
  readonly expiresAtMs: number
}

/** Candidate with its similarity. */
export interface Neighbour {
  readonly candidate: Candidate
  readonly cosine: number
}

/** Options of a search. */
export interface NearestOptions {
  readonly count: number
  readonly leastCosine: number
  readonly nowMs: number
}

interface Row extends Candidate {
  readonly vector: Int8Array
}

/** Number of rows from which on a graph is quicker than a scan, and worth its memory (`bench/semantic-scopes.ts`). */
const MOST_SCANNED = 500
/** Rows per portion of building a graph, of some milliseconds. */
const FED_AT_ONCE = 25
const SCALE_SQUARED = VECTOR_SCALE * VECTOR_SCALE
/** Memory of objects, strings' heads and the entries of two maps, in bytes. */
const ROW_OVERHEAD_BYTES = 300

/**
 * DESIGN — the texts of one scope
 *
 *   rows   label → key, text, vector     in the order in which they came; the oldest go first
 *   graph  labels by nearness            beyond 500 rows; while it is built, and without hnswlib, rows are scanned
 *
 * A scan looks at the last 2,000 at most: more would hold up the loop.
 */
export const MOST_LOOKED_AT = 2000

/** Questions of one scope, by vector. */
export class ScopeCandidates {
  readonly #rows = new Map<number, Row>()
  readonly #labels = new Map<string, number>()
  readonly #dimensions: number
  readonly #limit: number
  #nextLabel = 0
  #textBytes = 0
  #graph: Graph | undefined
  /** Last label in the graph; labels only increase. */
  #fed = -1

  constructor(dimensions: number, limit: number) {
    this.#dimensions = dimensions
    this.#limit = limit
  }

  get size(): number {
    return this.#rows.size
  }

  /** Memory in bytes, by parts. */
  get bytes(): number {
    const rows = this.#rows.size * (ROW_OVERHEAD_BYTES + this.#dimensions) + this.#textBytes
    return rows + (this.#graph?.bytes ?? 0)
  }

  /** Tests that all rows are in the graph. */
  get isIndexed(): boolean {
    return this.#graph !== undefined && this.#fed === this.#nextLabel - 1
  }

  /** Adds a candidate, replacing one of the same key; evicts the oldest when the scope is full. */
  add(candidate: Candidate, vector: Int8Array): void {
    this.remove(candidate.key)
    const [oldest] = this.#rows.values()
    if (this.#rows.size >= this.#limit && oldest !== undefined) this.remove(oldest.key)
    const label = this.#nextLabel++
    this.#rows.set(label, { ...candidate, vector })
    this.#labels.set(candidate.key, label)
    this.#textBytes += bytesOf(candidate)
    if (this.#graph !== undefined && this.#fed === label - 1) this.#feed(label)
    else if (this.#rows.size > MOST_SCANNED) this.#build()
  }

  remove(key: string): void {
    const label = this.#labels.get(key)
    const row = label === undefined ? undefined : this.#rows.get(label)
    if (label === undefined || row === undefined) return
    this.#labels.delete(key)
    this.#rows.delete(label)
    this.#textBytes -= bytesOf(row)
    if (label <= this.#fed) this.#graph?.remove(label)
    if (this.#graph?.isWorn === true) this.#rebuild()
  }

  /** Returns the nearest, nearest first, without expired ones. */
  nearest(vector: Int8Array, options: NearestOptions): Neighbour[] {
    const labels = this.isIndexed ? this.#graph?.search(vector) : undefined
    const rows = labels?.map((label) => this.#rows.get(label)) ?? [...this.#rows.values()].slice(-MOST_LOOKED_AT)
    const near: Neighbour[] = []
    for (const row of rows) {
      if (row === undefined || row.expiresAtMs <= options.nowMs) continue
      const cosine = dot(vector, row.vector) / SCALE_SQUARED
      if (cosine >= options.leastCosine) near.push({ candidate: row, cosine })
    }
    return near.sort((one, other) => other.cosine - one.cosine).slice(0, options.count)
  }

  #feed(label: number): void {
    const row = this.#rows.get(label)
    if (row !== undefined) this.#graph?.add(label, row.vector)
    this.#fed = label
  }

  #build(): void {
    if (this.#graph !== undefined) return
    const graph = createGraph(this.#dimensions)
    if (graph === undefined) return
    this.#graph = graph
    const feedOn = (): void => {
      if (this.#graph !== graph) return
      for (let i = 0; i < FED_AT_ONCE && !this.isIndexed; i++) this.#feed(this.#fed + 1)
      if (!this.isIndexed) setImmediate(feedOn)
    }
    setImmediate(feedOn)
  }

  /** Rebuilds the graph from the rows: removed points remain in it. */
  #rebuild(): void {
    this.#graph = undefined
    const [first = this.#nextLabel] = this.#rows.keys()
    this.#fed = first - 1
    if (this.#rows.size > MOST_SCANNED) this.#build()
  }
}

function bytesOf({ key, text }: Candidate): number {
  return 2 * text.length + key.length
}

/** Returns the dot product, with four sums at once; vectors have equal lengths that are multiples of four. */
export function dot(one: Int8Array, other: Int8Array): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  // The indices are within both arrays: fallbacks would take most of the time.
  for (let i = 0; i < one.length; i += 4) {
    a += one[i]! * other[i]!
    b += one[i + 1]! * other[i + 1]!
    c += one[i + 2]! * other[i + 2]!
    d += one[i + 3]! * other[i + 3]!
  }
  return a + b + c + d
}
