/** A bounded store of byte values. A miss and an expired entry are both `undefined`; a broken store rejects. */
export interface ByteStore {
  get(key: string): Promise<Buffer | undefined>
  /** Returns a value at once, also one whose `set` is still pending; unset where a value has to be waited for. */
  readonly getNow?: (key: string) => Buffer | undefined
  set(key: string, value: Buffer, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
  /** Leases that the processes sharing this store use to elect one of them, in the store's command order. Unset: not shared. */
  readonly leases?: Leases
}

/**
 * Leases by name, each held by at most one process, except after a stall longer than its lease: they save work and guard
 * nothing. A broken store rejects.
 */
export interface Leases {
  /** Takes a free lease; returns whether it was free. */
  take(name: string, ttlMs: number): Promise<boolean>
  /** Extends a lease that the caller holds. */
  renew(name: string, ttlMs: number): Promise<void>
  release(name: string): Promise<void>
}

/** Opens byte stores, one per namespace; the same namespace is the same data on every instance that shares an engine. */
export interface ByteStores {
  /** `maxBytes` bounds the memory engine; shared engines have their own limits. */
  open(namespace: string, options: { maxBytes: number }): ByteStore
}
