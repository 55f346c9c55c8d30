import type { Log } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'

/** Store behind the cache. When it fails, requests continue as if the cache were empty. */
export class CacheStore {
  /** Set when other instances share the store, so that they can use leases. */
  readonly isShared: boolean
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.isShared = store.leases !== undefined
    this.#store = store
    this.#log = log
  }

  /** Returns the value at once where the store can. */
  get(key: string): Buffer | undefined | Promise<Buffer | undefined> {
    const { getNow } = this.#store
    return getNow === undefined ? this.#attempt(() => this.#store.get(key), undefined) : getNow(key)
  }

  /** Stores a value, at once where the store can. */
  set(key: string, value: Buffer, ttlMs: number): void | Promise<void> {
    const setting = this.#attempt(() => this.#store.set(key, value, ttlMs), undefined)
    return this.#store.getNow === undefined ? setting : undefined
  }

  /** Takes a lease. Returns true when it was free, or when the store fails. */
  async takeLease(name: string, ttlMs: number): Promise<boolean> {
    return this.#attempt(async () => (await this.#store.leases?.take(name, ttlMs)) ?? true, true)
  }

  async renewLease(name: string, ttlMs: number): Promise<void> {
    await this.#attempt(async () => this.#store.leases?.renew(name, ttlMs), undefined)
  }

  async releaseLease(name: string): Promise<void> {
    await this.#attempt(async () => this.#store.leases?.release(name), undefined)
  }

  async #attempt<T>(operation: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await operation()
    } catch (error) {
      this.#log.debug({ err: error }, 'cache.unreachable')
      return otherwise
    }
  }
}
