import { LRUCache } from 'lru-cache'

/**
 * DESIGN: expected length of replies: for each caller and model, a high percentile of the output tokens of the last
 * replies. Clients request 32,000 tokens and use 800; holds of the former would refuse everything near a cap.
 */
const MOST_KEYS = 2000
const REMEMBERED = 64
const ENOUGH = 5
const UNKNOWN_TOKENS = 1024
const LEAST_TOKENS = 128
const QUANTILE = 0.95

/** Memory of reply lengths. */
export class Expectation {
  readonly #lengths = new LRUCache<string, Lengths>({ max: MOST_KEYS })

  /** Returns the output tokens that a reply is expected to stay below. */
  tokens(key: string): number {
    return this.#lengths.get(key)?.expected ?? UNKNOWN_TOKENS
  }

  learn(key: string, outputTokens: number): void {
    const known = this.#lengths.get(key)
    const lengths = known ?? new Lengths()
    if (known === undefined) this.#lengths.set(key, lengths)
    lengths.add(outputTokens)
  }
}

/** Last lengths in order of arrival, and sorted, so that a query costs nothing. */
class Lengths {
  readonly #recent: number[] = []
  readonly #sorted: number[] = []

  get expected(): number | undefined {
    if (this.#recent.length < ENOUGH) return undefined
    return Math.max(LEAST_TOKENS, this.#sorted[Math.floor(this.#sorted.length * QUANTILE)] ?? UNKNOWN_TOKENS)
  }

  add(length: number): void {
    const oldest = this.#recent.length === REMEMBERED ? this.#recent.shift() : undefined
    this.#recent.push(length)
    if (oldest === length) return
    if (oldest !== undefined) this.#sorted.splice(placeIn(this.#sorted, oldest), 1)
    this.#sorted.splice(placeIn(this.#sorted, length), 0, length)
  }
}

/** Returns the index of the first length that is not smaller. */
function placeIn(sorted: readonly number[], length: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < length) low = middle + 1
    else high = middle
  }
  return low
}
