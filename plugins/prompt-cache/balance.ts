import type { InputPrices, Lifetime } from './economics.ts'

/** Allowance of writes beyond the savings of reads: in tokens of input, and as a share of all input. */
const CREDIT_TOKENS = 10_000
const CREDIT_SHARE = 0.01
/** Most savings that are remembered. */
const MOST_SAVED_TOKENS = 1_000_000

/** Tokens of a bill that concern the cache. */
export interface Billed {
  readonly inputTokens: number
  readonly readTokens: number
  readonly writtenTokens: Readonly<Record<Lifetime, number>>
}

/**
 * Costs and savings of a caller's marks, in tokens of uncached input. A write is made only while they are balanced: so no
 * traffic costs more than without marks by more than one per cent, 10,000 tokens and the one write that exceeds them.
 */
export class Balance {
  #deficit = 0
  #running = 0
  #inputTokens = 0

  /** Returns true if a further write may be made by a request that reads so many tokens. */
  mayWrite(readTokens: number, { read }: InputPrices): boolean {
    const deficit = this.#deficit + this.#running - readTokens * (1 - read)
    return deficit <= CREDIT_TOKENS + CREDIT_SHARE * this.#inputTokens
  }

  /** Counts the cost of a write that is not billed yet. */
  begin(costTokens: number): void {
    this.#running += costTokens
  }

  /** Ends a write that `begin` has counted. */
  end(costTokens: number): void {
    this.#running -= costTokens
  }

  /** Counts a bill. */
  settle({ inputTokens, readTokens, writtenTokens }: Billed, { read, write }: InputPrices): void {
    const cost =
      writtenTokens['5m'] * (write['5m'] - 1) + (writtenTokens['1h'] && writtenTokens['1h'] * (write['1h'] - 1))
    this.#deficit = Math.max(-MOST_SAVED_TOKENS, this.#deficit + cost - readTokens * (1 - read))
    this.#inputTokens += inputTokens
  }
}
