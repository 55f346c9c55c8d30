import { LRUCache } from 'lru-cache'
import type { ByteStore } from '../../core/ports/byte-store.ts'
import { compactCopy } from '../../core/reply/compact-copy.ts'

/** Memory of an entry besides its value, measured: key, places in the cache, Buffer and its backing store, allocator. */
const ENTRY_OVERHEAD_BYTES = 1100

interface Entry {
  readonly bytes: Buffer
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** A store in the memory of this process, for at most `maxBytes`; evicts the least recently used. */
export function memoryStore(maxBytes: number): ByteStore {
  const cache = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, key) => ENTRY_OVERHEAD_BYTES + key.length + bytes.length,
  })
  const getNow = (key: string): Buffer | undefined => {
    const entry = cache.get(key)
    if (entry === undefined || entry.expiresAtMs >= Date.now()) return entry?.bytes
    cache.delete(key)
  }
  return {
    get: async (key) => getNow(key),
    getNow,
    set: async (key, value, ttlMs) =>
      void cache.set(key, { bytes: compactCopy(value), expiresAtMs: Date.now() + ttlMs }),
    delete: async (key) => void cache.delete(key),
  }
}
