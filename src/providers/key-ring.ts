import { hash } from 'node:crypto'
import type { WeightedKey } from './options.ts'

/**
 * DESIGN — several credentials of one provider
 *
 * Each conversation has an order of the keys of its own: rendezvous hashing, in which a key of twice the weight comes
 * first twice as often. So the traffic spreads by weight, a conversation stays with its key (whose account has its
 * prompt cache), and without that key each conversation moves to its own second key, not all of them to the same one.
 *
 * Health is passive: a key that the provider refused goes into cool-down, and is tried only when all others cool down too.
 */
const HASH_RANGE = 2 ** 48

/** One credential in the ring. */
export interface RingKey {
  readonly secret: string
  readonly weight: number
  /** End of its cool-down, in the ring's time. */
  coolsUntilMs: number
}

/** The credentials of a provider. */
export class KeyRing {
  readonly #keys: readonly RingKey[]
  readonly #nowMs: () => number

  constructor(keys: readonly WeightedKey[], nowMs: () => number) {
    this.#keys = keys.map(({ api_key, weight }) => ({ secret: api_key, weight, coolsUntilMs: 0 }))
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#keys.length
  }

  /** Returns the keys in a conversation's order; `conversation` is called only when there is a choice. */
  order(conversation: () => string): readonly RingKey[] {
    if (this.#keys.length < 2) return this.#keys
    const text = conversation()
    const nowMs = this.#nowMs()
    return this.#keys
      .map((key) => ({ key, coolDownMs: Math.max(0, key.coolsUntilMs - nowMs), rank: rankOf(key, text) }))
      .sort((a, b) => a.coolDownMs - b.coolDownMs || b.rank - a.rank)
      .map(({ key }) => key)
  }

  /** Starts a key's cool-down. */
  coolDown(key: RingKey, ms: number): void {
    key.coolsUntilMs = Math.max(key.coolsUntilMs, this.#nowMs() + ms)
  }
}

/** Returns the weighted rendezvous rank: −weight ÷ ln(h), h uniform in (0, 1). */
function rankOf({ secret, weight }: RingKey, conversation: string): number {
  const digest = hash('sha256', `${secret}\n${conversation}`, 'buffer')
  return -weight / Math.log((digest.readUIntBE(0, 6) + 0.5) / HASH_RANGE)
}
