import { type Candidate, type NearestOptions, type Neighbour, ScopeCandidates } from './scope-candidates.ts'

/** What bounds the candidates of a process. */
export interface CandidatesLimits {
  readonly dimensions: number
  /** Of all scopes together. */
  readonly maxBytes: number
  /** Of one scope. */
  readonly maxScopeEntries: number
}

/** A scope that is empty but for its name. */
const SCOPE_OVERHEAD_BYTES = 500

/** What was asked in each scope, by vector, in the memory of this process; the scope used longest ago goes first. */
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

  /** The nearest in a scope, nearest first. */
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
