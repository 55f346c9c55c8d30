import type { ByteStore, Log } from 'turnpike/plugin'

/** The store behind the cache. When it fails, requests go on as if the cache were empty. */
export class CacheStore {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  async get(key: string): Promise<Buffer | undefined> {
    try {
      return await this.#store.get(key)
    } catch (error) {
      this.#log.debug({ err: error }, 'cache.unreachable')
      return undefined
    }
  }

  async set(key: string, value: Buffer, ttlMs: number): Promise<void> {
    try {
      await this.#store.set(key, value, ttlMs)
    } catch (error) {
      this.#log.debug({ err: error }, 'cache.unreachable')
    }
  }
}
