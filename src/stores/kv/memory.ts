import { LRUCache } from 'lru-cache'

/** Bytes that an entry costs besides its value: key, map node, wrapper. */
const ENTRY_OVERHEAD_BYTES = 256

interface Wrapped {
  value?: unknown
}

/** What Keyv needs of a map. */
export interface BoundedMap {
  get(key: string): Wrapped | undefined
  set(key: string, value: Wrapped): void
  delete(key: string): boolean
  clear(): void
}

/**
 * A map for Keyv that holds at most `maxBytes` of Buffers, dropping what was used longest ago.
 * Keyv wraps each value as `{ value, expires }`, and looks after the expiry itself.
 */
export function createBoundedMap(maxBytes: number): BoundedMap {
  const cache = new LRUCache<string, Wrapped>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }, key) =>
      ENTRY_OVERHEAD_BYTES + key.length + (Buffer.isBuffer(value) ? value.length : 0),
  })
  return {
    get: (key) => cache.get(key),
    // Keyv passes a third argument, a number, which the cache would take for its options.
    set: (key, value) => void cache.set(key, value),
    delete: (key) => cache.delete(key),
    clear: () => cache.clear(),
  }
}
