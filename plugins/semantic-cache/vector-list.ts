import { VECTOR_SCALE } from './embedder.ts'
import { dotPacked, packVector, unpackVector } from './packed-vector.ts'

const SCALE_SQUARED = VECTOR_SCALE * VECTOR_SCALE
const FIRST_CAPACITY = 256
const GROWTH = 1.25
/** Growing one array of many megabytes would hold up the loop. */
const BLOCK = 1024

/** Vectors at places from 0 on, packed, one behind another, in blocks of 1,024. */
export class VectorList {
  /** A multiple of four. */
  readonly #dimensions: number
  readonly #blocks: Block[] = []

  constructor(dimensions: number) {
    this.#dimensions = dimensions
  }

  /** Puts a vector at a place, at most one beyond the last; `undefined` is like nothing. */
  set(place: number, vector: Int8Array | undefined): void {
    const which = Math.floor(place / BLOCK)
    const block = this.#blocks[which] ?? new Block()
    this.#blocks[which] = block
    block.set(place % BLOCK, packVector(vector ?? NOTHING))
  }

  /** The vector at a place; `undefined` where it is like nothing. */
  at(place: number): Int8Array | undefined {
    const row = this.#blocks[Math.floor(place / BLOCK)]?.at(place % BLOCK)
    return row === undefined || row.length === 0 ? undefined : unpackVector(row, this.#dimensions)
  }

  /** Bytes of the vector at a place. */
  bytesAt(place: number): number {
    return this.#blocks[Math.floor(place / BLOCK)]?.at(place % BLOCK).length ?? 0
  }

  /** The cosine of a vector and the one at a place. */
  cosine(vector: Int8Array, place: number): number {
    const block = this.#blocks[Math.floor(place / BLOCK)]
    return block === undefined ? 0 : block.dot(vector, place % BLOCK) / SCALE_SQUARED
  }
}

const NOTHING = new Int8Array(0)

class Block {
  #bytes = new Int8Array(FIRST_CAPACITY)
  /** Where each row ends, and the next one starts. */
  readonly #ends: number[] = []

  set(row: number, packed: Int8Array): void {
    const used = this.#ends.at(-1) ?? 0
    const start = this.#ends[row - 1] ?? 0
    const end = this.#ends[row] ?? start
    const shift = packed.length - (end - start)
    this.#reserve(used + shift)
    this.#bytes.copyWithin(end + shift, end, used)
    this.#bytes.set(packed, start)
    this.#ends[row] ??= end
    for (let k = row; shift !== 0 && k < this.#ends.length; k++) this.#ends[k] = (this.#ends[k] ?? 0) + shift
  }

  at(row: number): Int8Array {
    return this.#bytes.subarray(this.#ends[row - 1] ?? 0, this.#ends[row] ?? 0)
  }

  dot(vector: Int8Array, row: number): number {
    return dotPacked(vector, this.#bytes, { start: this.#ends[row - 1] ?? 0, end: this.#ends[row] ?? 0 })
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const grown = new Int8Array(Math.ceil(length * GROWTH))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}
