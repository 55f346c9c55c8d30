import { VECTOR_SCALE } from './embedder.ts'

const SCALE_SQUARED = VECTOR_SCALE * VECTOR_SCALE
const FIRST_CAPACITY = 4
const GROWTH = 1.25
/** Growing one array of many megabytes would hold up the loop. */
const BLOCK = 1024

/** Vectors at places from 0 on, in blocks of 1,024, each one array; the last block grows as it fills. */
export class VectorList {
  /** A multiple of four. */
  readonly #dimensions: number
  readonly #blocks: Int8Array[] = []

  constructor(dimensions: number) {
    this.#dimensions = dimensions
  }

  /** Puts a vector at a place, at most one beyond the last; `undefined` is like nothing. */
  set(place: number, vector: Int8Array | undefined): void {
    const start = (place % BLOCK) * this.#dimensions
    const block = this.#blockFor(place)
    if (vector === undefined) block.fill(0, start, start + this.#dimensions)
    else block.set(vector, start)
  }

  /** The vector at a place: a view, until something else is put there. */
  at(place: number): Int8Array {
    const start = (place % BLOCK) * this.#dimensions
    return this.#blockFor(place).subarray(start, start + this.#dimensions)
  }

  /** The cosine of a vector and the one at a place. */
  cosine(vector: Int8Array, place: number): number {
    const block = this.#blocks[Math.floor(place / BLOCK)]
    return block === undefined ? 0 : dot(vector, block, (place % BLOCK) * this.#dimensions) / SCALE_SQUARED
  }

  #blockFor(place: number): Int8Array {
    const which = Math.floor(place / BLOCK)
    const needed = (place % BLOCK) + 1
    const block = this.#blocks[which]
    if (block !== undefined && needed * this.#dimensions <= block.length) return block
    const room = Math.min(BLOCK, Math.max(FIRST_CAPACITY, Math.ceil(needed * GROWTH)))
    const grown = new Int8Array(room * this.#dimensions)
    if (block !== undefined) grown.set(block)
    this.#blocks[which] = grown
    return grown
  }
}

/** The loop that counts: four sums at once, and no fallbacks, for the indices are within both arrays. */
function dot(vector: Int8Array, vectors: Int8Array, start: number): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let i = 0, k = start; i < vector.length; i += 4, k += 4) {
    a += vector[i]! * vectors[k]!
    b += vector[i + 1]! * vectors[k + 1]!
    c += vector[i + 2]! * vectors[k + 2]!
    d += vector[i + 3]! * vectors[k + 3]!
  }
  return a + b + c + d
}
