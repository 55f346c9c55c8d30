import { type Candidate, type NearestOptions, type Neighbour, ScopeCandidates } from './scope-candidates.ts'

/** Bounds of a process's candidates. */
export interface CandidatesLimits {
  readonly dimensions: number
  /** For all scopes together. */
  readonly maxBytes: number
  /** For one scope. */
  readonly maxScopeEntries: number
}

/** Memory of an empty scope, in bytes. */
const SCOPE_OVERHEAD_BYTES = 500

/** Questions of each scope, by vector, in the memory of this process; evicts the least recently used scope. */
export class Candidates {
  readonly #scopes = new Map<string, ScopeCandidates>()
  readonly #limits: CandidatesLimits
  #bytes = 0

  constructor(limits: CandidatesLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the nearest candidates in a scope, nearest first. */
  nearest(scope: string, vector: Int8Array, options: NearestOptions): Neighbour[] {
    const found = this.#scopes.get(scope)
    if (found === undefined) return []
    this.#scopes.delete(scope)
    this.#scopes.set(scope, found)
    return found.nearest(vector, options)
  }

  add(scope: string, candidate: Candidate, vector: Int8Array): void {
    const { dimensions, maxScopeEntries, maxBytes } = this.#limits
    const found = this.#scopes.get(scope) ?? new ScopeCandidates(dimensions, maxScopeEntries)
    this.#forget(scope)
    found.add(candidate, vector)
    this.#scopes.set(scope, found)
    this.#bytes += weightOf(found)
    for (const oldest of this.#scopes.keys()) {
      if (this.#bytes <= maxBytes) return
      this.#forget(oldest)
    }
  }

  remove(scope: string, key: string): void {
    const found = this.#scopes.get(scope)
    if (found === undefined) return
    this.#bytes -= weightOf(found)
    found.remove(key)
    this.#bytes += weightOf(found)
  }

  #forget(scope: string): void {
    const found = this.#scopes.get(scope)
    if (found === undefined) return
    this.#bytes -= weightOf(found)
    this.#scopes.delete(scope)
  }
}

function weightOf({ bytes }: ScopeCandidates): number {
  return SCOPE_OVERHEAD_BYTES + bytes
}
