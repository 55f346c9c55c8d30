/** A source of chance that is the same for the same seed. */
export interface Chance {
  /** A number from 0 to 1, without 1. */
  next(): number
  /** Returns true with this probability. */
  happens(probability: number): boolean
  /** A whole number below `count`. */
  below(count: number): number
  /** One of `items`, which must not be empty. */
  pick<Item>(items: readonly Item[]): Item
  /** Milliseconds until the next of events that come by chance, `meanMs` apart. */
  waitMs(meanMs: number): number
}

/** Creates a generator by Mulberry32, which is small, quick and good enough to mix traffic with. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item, // safe: not empty
    waitMs: (meanMs) => -Math.log(1 - next()) * meanMs,
  }
}
