import { randomFillSync } from 'node:crypto'

const PIECES = 256

/** Pool of random byte strings of one size. Generating each separately costs ten times as much. */
export class RandomPool {
  readonly #pool: Buffer
  readonly #size: number
  #next: number

  constructor(size: number) {
    this.#size = size
    this.#pool = Buffer.allocUnsafeSlow(size * PIECES)
    this.#next = this.#pool.length
  }

  /** Returns bytes that were never returned before. Use them at once: the pool's buffer is refilled in place. */
  take(): Buffer {
    if (this.#next === this.#pool.length) {
      randomFillSync(this.#pool)
      this.#next = 0
    }
    const start = this.#next
    this.#next += this.#size
    return this.#pool.subarray(start, this.#next)
  }
}
