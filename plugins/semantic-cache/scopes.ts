import { type Entry, ScopeIndex } from './scope-index.ts'

/** Entries of one scope at most: beyond, an exact scan would block the loop for over a millisecond. */
const MOST_ENTRIES_OF_A_SCOPE = 2000

/** The scopes in memory, at most `maxEntries` entries in all; the scope that was used longest ago goes as a whole. */
export class Scopes {
  readonly #scopes = new Map<string, ScopeIndex>()
  readonly #dimensions: number
  readonly #maxEntries: number
  #entryCount = 0

  constructor(dimensions: number, maxEntries: number) {
    this.#dimensions = dimensions
    this.#maxEntries = maxEntries
  }

  get entryCount(): number {
    return this.#entryCount
  }

  /** The scope, if it has entries; it is the last to go then. */
  get(scope: string): ScopeIndex | undefined {
    const index = this.#scopes.get(scope)
    if (index === undefined) return undefined
    this.#scopes.delete(scope)
    this.#scopes.set(scope, index)
    return index
  }

  /** Keeps an entry in its scope. */
  add(scope: string, entry: Entry, vector: Int8Array | undefined): void {
    const index =
      this.get(scope) ?? new ScopeIndex(this.#dimensions, Math.min(MOST_ENTRIES_OF_A_SCOPE, this.#maxEntries))
    this.#scopes.set(scope, index)
    this.#entryCount -= index.size
    index.add(entry, vector)
    this.#entryCount += index.size
    for (const [oldest, { size }] of this.#scopes) {
      if (this.#entryCount <= this.#maxEntries) return
      this.#scopes.delete(oldest)
      this.#entryCount -= size
    }
  }

  /** Forgets an entry whose reply is gone. */
  remove(scope: string, entry: Entry): void {
    const index = this.#scopes.get(scope)
    if (index === undefined) return
    this.#entryCount -= index.size
    index.remove(entry)
    this.#entryCount += index.size
    if (index.size === 0) this.#scopes.delete(scope)
  }
}
