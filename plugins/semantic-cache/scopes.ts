import { hash } from 'node:crypto'
import { type Entry, ScopeIndex } from './scope-index.ts'

/** Entries of one scope at most: beyond, an exact scan would block the loop for over a millisecond. */
const MOST_ENTRIES_OF_A_SCOPE = 2000
/** Pairs of a text and a reply that were found wrong, over all scopes; the oldest is forgotten first. */
const MOST_BLOCKS = 20_000

/** The scopes in memory, at most `maxEntries` entries in all; the scope that was used longest ago goes as a whole. */
export class Scopes {
  readonly #scopes = new Map<string, ScopeIndex>()
  readonly #dimensions: number
  readonly #maxEntries: number
  #entryCount = 0
  readonly #blocks = new Set<string>()

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

  /** Forgets an entry and whatever else leads to its reply. */
  removeReply(scope: string, id: string): void {
    for (const entry of this.#scopes.get(scope)?.leadingTo(id) ?? []) this.remove(scope, entry)
  }

  /** From now on the reply `id` does not answer this text, whatever its entries are called. */
  block(scope: string, text: string, id: string): void {
    this.#blocks.add(blockKey(scope, text, id))
    const [oldest] = this.#blocks
    if (this.#blocks.size > MOST_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest)
  }

  isBlocked(scope: string, text: string, id: string): boolean {
    return this.#blocks.size > 0 && this.#blocks.has(blockKey(scope, text, id))
  }
}

function blockKey(scope: string, text: string, id: string): string {
  return hash('sha256', `${scope} ${id} ${text}`, 'base64url')
}
