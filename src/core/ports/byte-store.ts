/** A bounded store of byte values. A miss and an expired entry are both `undefined`; a broken store rejects. */
export interface ByteStore {
  get(key: string): Promise<Buffer | undefined>
  set(key: string, value: Buffer, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
  /** Of those who share this store, by which they agree on one of them, in the order of what is asked here. Unset: nobody shares it. */
  readonly leases?: Leases
}

/**
 * Leases by name, each held by at most one process of all: but for one that stood still for longer than its lease, so
 * that they spare work and guard nothing. A broken store rejects.
 */
export interface Leases {
  /** Takes a lease that nobody holds; gives whether it was free. */
  take(name: string, ttlMs: number): Promise<boolean>
  /** Makes a lease that one holds last longer. */
  renew(name: string, ttlMs: number): Promise<void>
  release(name: string): Promise<void>
}

/** Opens byte stores, one per namespace; the same namespace is the same data on every instance that shares an engine. */
export interface ByteStores {
  /** `maxBytes` bounds the memory engine; shared engines have their own limits. */
  open(namespace: string, options: { maxBytes: number }): ByteStore
}
