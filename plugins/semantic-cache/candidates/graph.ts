import { createRequire } from 'node:module'
import type { HierarchicalNSW } from 'hnswlib-node'

const FIRST_CAPACITY = 1024
const GROWTH = 1.5
const LINKS = 12
const EFFORT_OF_BUILDING = 60
/** Proposals, whose exact cosines are computed. */
const PROPOSED = 32
/** Share of removed points from which on the graph is rebuilt. */
const WORN_SHARE = 0.5
/** Memory of locks and lists of each index, in bytes. */
const FIXED_BYTES = 2_700_000
const FLOAT_BYTES = 4

/** Index of vectors by label. */
export interface Graph {
  readonly bytes: number
  /** Set when enough points were removed to rebuild the graph. */
  readonly isWorn: boolean
  add(label: number, vector: Int8Array): void
  remove(label: number): void
  /** Returns labels of the nearest, as far as the index finds them. */
  search(vector: Int8Array): readonly number[]
}

/** Optional package of the index. */
export const GRAPH_PACKAGE = 'hnswlib-node'

type Hnswlib = typeof import('hnswlib-node')
let library: Hnswlib | undefined
let isMissing = false

/** Loads hnswlib, an optional package; returns whether it is installed. */
export function hasGraphs(): boolean {
  if (library !== undefined || isMissing) return library !== undefined
  try {
    library = createRequire(import.meta.url)(GRAPH_PACKAGE)
  } catch {
    isMissing = true
  }
  return library !== undefined
}

/** Creates an empty index; `undefined` without hnswlib. */
export function createGraph(dimensions: number): Graph | undefined {
  if (!hasGraphs() || library === undefined) return undefined
  const hnsw: HierarchicalNSW = new library.HierarchicalNSW('ip', dimensions)
  hnsw.initIndex(FIRST_CAPACITY, LINKS, EFFORT_OF_BUILDING)
  hnsw.setEf(PROPOSED)
  let removed = 0
  const bytesEach = FLOAT_BYTES * (dimensions + 2 * LINKS + LINKS)
  return {
    get bytes() {
      return FIXED_BYTES + hnsw.getMaxElements() * bytesEach
    },
    get isWorn() {
      return removed > FIRST_CAPACITY && removed > hnsw.getCurrentCount() * WORN_SHARE
    },
    add(label, vector) {
      const capacity = hnsw.getMaxElements()
      if (hnsw.getCurrentCount() >= capacity) hnsw.resizeIndex(Math.ceil(capacity * GROWTH))
      hnsw.addPoint(Array.from(vector), label)
    },
    remove(label) {
      hnsw.markDelete(label)
      removed++
    },
    search(vector) {
      const count = Math.min(PROPOSED, hnsw.getCurrentCount() - removed)
      return count <= 0 ? [] : hnsw.searchKnn(Array.from(vector), count).neighbors
    },
  }
}
