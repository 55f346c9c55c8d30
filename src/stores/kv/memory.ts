import Keyv from 'keyv'
import { LRUCache } from 'lru-cache'
import type { ByteStore } from '../../core/ports/byte-store.ts'
import { compactCopy } from '../../core/reply/compact-copy.ts'

/** Bytes that an entry costs besides its value: key, map node, wrapper. */
const ENTRY_OVERHEAD_BYTES = 256

interface Wrapped {
  value?: unknown
}

/** The part of a map that Keyv uses. */
interface BoundedMap {
  get(key: string): Wrapped | undefined
  set(key: string, value: Wrapped): void
  delete(key: string): boolean
  clear(): void
}

/**
 * Creates a map for Keyv that holds at most `maxBytes` of Buffers and evicts the least recently used.
 * Keyv wraps each value as `{ value, expires }`, and looks after the expiry itself.
 */
function createBoundedMap(maxBytes: number): BoundedMap {
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

/** A store in the memory of this process, for at most `maxBytes`. */
export function memoryStore(maxBytes: number): ByteStore {
  // Values stay Buffers: Keyv's default serialisation would turn them into base64 inside JSON.
  const keyv = new Keyv<Buffer>({ store: createBoundedMap(maxBytes), useKeyPrefix: false, throwOnErrors: true })
  keyv.serialize = undefined
  keyv.deserialize = undefined
  return {
    get: (key) => keyv.get(key),
    set: async (key, value, ttlMs) => void (await keyv.set(key, compactCopy(value), ttlMs)),
    delete: async (key) => void (await keyv.delete(key)),
  }
}
