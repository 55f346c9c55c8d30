import { LRUCache } from 'lru-cache'

const MOST_SCOPES = 2000
const START = 4
const LEAST = 1.5
const MOST = 8
const WEIGHT = 0.2

/** Bytes of a request's JSON for one of its tokens, learnt from bills. */
export class TokenSizes {
  readonly #byScope = new LRUCache<string, number>({ max: MOST_SCOPES })

  bytesPerToken(scope: string): number {
    return this.#byScope.get(scope) ?? START
  }

  /** Learns from a request that was estimated at `estimated` tokens, and billed with `billed`. */
  learn(scope: string, estimated: number, billed: number): void {
    if (estimated === 0 || billed === 0) return
    const size = this.bytesPerToken(scope)
    const learnt = size + WEIGHT * ((size * estimated) / billed - size)
    this.#byScope.set(scope, Math.min(MOST, Math.max(LEAST, learnt)))
  }
}
