/** Limits of a `BoundedMap`. */
export interface BoundedMapOptions<Value> {
  readonly most: number
  /** Time without use after which an entry expires. */
  readonly idleMs: number
  /** Called for each entry that was evicted or has expired. */
  readonly onForget?: (value: Value) => void
}

/** A map that evicts the least recently used entries beyond a number, and entries that were not used for a time. */
export class BoundedMap<Value> {
  readonly #options: BoundedMapOptions<Value>
  /** The least recently used first. */
  readonly #entries = new Map<string, { readonly value: Value; usedAtMs: number }>()

  constructor(options: BoundedMapOptions<Value>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns the value of a key, now the most recently used; `undefined` for one that has expired. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (nowMs - entry.usedAtMs > this.#options.idleMs) return void this.#options.onForget?.(entry.value)
    entry.usedAtMs = nowMs
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Sets the value of a key that has none. */
  add(key: string, value: Value, nowMs: number): void {
    this.#entries.set(key, { value, usedAtMs: nowMs })
    if (this.#entries.size > this.#options.most) this.evict()
  }

  /** Evicts the least recently used entry. */
  evict(): void {
    for (const [key, { value }] of this.#entries) {
      this.#entries.delete(key)
      this.#options.onForget?.(value)
      return
    }
  }
}
