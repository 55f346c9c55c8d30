/**
 * How long answers are: for each caller and model the output tokens of the last answers, and what nearly all of them
 * stay below. Clients ask for 32,000 tokens and use 800; a hold of the former would lock everybody out near a cap.
 */
const MOST_KEYS = 2000
const REMEMBERED = 64
const ENOUGH = 5
const UNKNOWN_TOKENS = 1024
const LEAST_TOKENS = 128
const QUANTILE = 0.95

/** Remembers lengths of answers. */
export class Expectation {
  readonly #lengths = new Map<string, number[]>()

  /** Output tokens that an answer is expected to stay below. */
  tokens(key: string): number {
    const lengths = this.#lengths.get(key)
    if (lengths === undefined || lengths.length < ENOUGH) return UNKNOWN_TOKENS
    const sorted = lengths.toSorted((a, b) => a - b)
    return Math.max(LEAST_TOKENS, sorted[Math.floor(sorted.length * QUANTILE)] ?? UNKNOWN_TOKENS)
  }

  learn(key: string, outputTokens: number): void {
    const lengths = this.#lengths.get(key) ?? []
    if (lengths.push(outputTokens) > REMEMBERED) lengths.shift()
    // The key used longest ago goes first: one that is used moves to the end.
    this.#lengths.delete(key)
    this.#lengths.set(key, lengths)
    if (this.#lengths.size <= MOST_KEYS) return
    const [oldest] = this.#lengths.keys()
    if (oldest !== undefined) this.#lengths.delete(oldest)
  }
}
