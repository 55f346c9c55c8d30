import type { HierarchicalNSW } from 'hnswlib-node'

const FIRST_CAPACITY = 4096
const GROWTH = 1.5
const LINKS = 10
const EFFORT_OF_BUILDING = 80
/** Candidates whose true cosines are taken: that is cheaper than a graph which needs fewer. */
const CANDIDATES = 256
/** Removed points stay in a graph and are walked through: from this share on it is built anew. */
const WORN_SHARE = 0.5

/** The graph of one scope, over folded vectors, grown as needed. */
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
    hnsw.setEf(CANDIDATES)
    this.#labels = new Set(hnsw.getIdsList())
  }

  get isWorn(): boolean {
    return this.deleted.size > FIRST_CAPACITY && this.deleted.size > this.#labels.size * WORN_SHARE
  }

  add(label: number, folded: number[]): void {
    if (this.deleted.delete(label)) this.hnsw.unmarkDelete(label)
    if (this.#labels.has(label)) return
    const capacity = this.hnsw.getMaxElements()
    if (this.hnsw.getCurrentCount() >= capacity) this.hnsw.resizeIndex(Math.ceil(capacity * GROWTH))
    this.hnsw.addPoint(folded, label)
    this.#labels.add(label)
  }

  remove(label: number): void {
    if (!this.#labels.has(label) || this.deleted.has(label)) return
    this.hnsw.markDelete(label)
    this.deleted.add(label)
  }

  search(folded: number[]): number[] {
    const there = this.#labels.size - this.deleted.size
    if (there === 0) return []
    return this.hnsw.searchKnn(folded, Math.min(CANDIDATES, there)).neighbors
  }
}
