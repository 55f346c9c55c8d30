import { LRUCache } from 'lru-cache'

/** Bytes that an entry costs besides its value: key, map node, wrapper. */
const ENTRY_OVERHEAD_BYTES = 256

interface Wrapped {
  value?: unknown
}

/**
 * A map for Keyv that holds at most `maxBytes` of Buffers, dropping what was used longest ago.
 * Keyv wraps each value as `{ value, expires }`.
 */
export function createBoundedMap(maxBytes: number): LRUCache<string, Wrapped> {
  return new LRUCache<string, Wrapped>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }, key) =>
      ENTRY_OVERHEAD_BYTES + key.length + (Buffer.isBuffer(value) ? value.length : 0),
  })
}
