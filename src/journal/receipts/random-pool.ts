import { randomFillSync } from 'node:crypto'

const PIECES = 256

/** Random bytes in pieces of one size. Asked for one by one they would cost ten times as much. */
export class RandomPool {
  readonly #pool: Buffer
  readonly #size: number
  #next: number

  constructor(size: number) {
    this.#size = size
    this.#pool = Buffer.allocUnsafeSlow(size * PIECES)
    this.#next = this.#pool.length
  }

  /** A piece that was given to nobody before; to be used at once, for the pool is filled anew in time. */
  take(): Uint8Array {
    if (this.#next === this.#pool.length) {
      randomFillSync(this.#pool)
      this.#next = 0
    }
    const start = this.#next
    this.#next += this.#size
    return this.#pool.subarray(start, this.#next)
  }
}
