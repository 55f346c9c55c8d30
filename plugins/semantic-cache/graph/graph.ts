import type { HierarchicalNSW } from 'hnswlib-node'
import { FOLDED, fold } from './fold.ts'

const FIRST_CAPACITY = 4096
const GROWTH = 1.5
const LINKS = 16
const EFFORT_OF_BUILDING = 100
const EFFORT_OF_SEARCH = 96
/** Candidates whose true cosines are taken. */
const CANDIDATES = 64
/** Removed points stay in a graph and are walked through: from this share on it is built anew. */
const WORN_SHARE = 0.5

/** The graph of one scope, grown as needed. */
export class Graph {
  readonly hnsw: HierarchicalNSW
  readonly deleted: Set<number>
  readonly #labels: Set<number>

  constructor(hnsw: HierarchicalNSW, deleted?: Set<number>) {
    this.hnsw = hnsw
    this.deleted = deleted ?? new Set()
    if (deleted === undefined) {
      hnsw.initIndex(FIRST_CAPACITY, LINKS, EFFORT_OF_BUILDING)
    }
    hnsw.setEf(EFFORT_OF_SEARCH)
    this.#labels = new Set(hnsw.getIdsList())
  }

  get isWorn(): boolean {
    return this.deleted.size > FIRST_CAPACITY && this.deleted.size > this.#labels.size * WORN_SHARE
  }

  add(label: number, vector: Int8Array): void {
    if (this.deleted.delete(label)) this.hnsw.unmarkDelete(label)
    if (this.#labels.has(label)) return
    const capacity = this.hnsw.getMaxElements()
    if (this.hnsw.getCurrentCount() >= capacity) this.hnsw.resizeIndex(Math.ceil(capacity * GROWTH))
    this.hnsw.addPoint(fold(vector), label)
    this.#labels.add(label)
  }

  remove(label: number): void {
    if (!this.#labels.has(label) || this.deleted.has(label)) return
    this.hnsw.markDelete(label)
    this.deleted.add(label)
  }

  search(vector: Int8Array): number[] {
    const there = this.#labels.size - this.deleted.size
    if (there === 0) return []
    return this.hnsw.searchKnn(fold(vector), Math.min(CANDIDATES, there)).neighbors
  }
}

/** Components of the graph's own vectors. */
export const GRAPH_DIMENSIONS = FOLDED
