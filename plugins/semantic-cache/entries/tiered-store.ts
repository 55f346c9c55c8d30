import type { ByteStore } from 'turnpike/plugin'

/** A quick store in front of one that lasts. While the lasting one fails, what the quick one has is given. */
export function tieredStore(quick: ByteStore, lasting: ByteStore): ByteStore {
  return {
    get: async (key) => (await quick.get(key)) ?? (await lasting.get(key)),
    async set(key, value, ttlMs) {
      await quick.set(key, value, ttlMs)
      await lasting.set(key, value, ttlMs)
    },
    async delete(key) {
      await quick.delete(key)
      await lasting.delete(key)
    },
  }
}

/** A part of a store, whose keys begin with `prefix` there. */
export function prefixedStore(store: ByteStore, prefix: string): ByteStore {
  return {
    get: (key) => store.get(prefix + key),
    set: (key, value, ttlMs) => store.set(prefix + key, value, ttlMs),
    delete: (key) => store.delete(prefix + key),
  }
}
