import { VECTOR_SCALE } from './embedder.ts'

/** A text that was answered. */
export interface Entry {
  /** Names the reply in the store. */
  readonly id: string
  readonly text: string
  readonly storedAtMs: number
  readonly expiresAtMs: number
}

/** An entry, and how near its vector is. */
export interface Neighbour {
  readonly entry: Entry
  readonly cosine: number
}

const SCALE_SQUARED = VECTOR_SCALE * VECTOR_SCALE
const FIRST_CAPACITY = 4
const GROWTH = 1.25

/**
 * DESIGN — the texts of one scope
 *
 *   vectors  [ v0 │ v1 │ v2 │ … │ room ]   one typed array, scanned from end to end
 *   entries  [ e0 │ e1 │ e2 │ … ]          the same places
 *
 * Exact: every vector is looked at, 0.5 µs each. Bounded: when the scope is full, what was used longest ago goes. A place
 * that falls free is filled by the last one. Entries without a vector are found by their text alone.
 */
export class ScopeIndex {
  /** A multiple of four. */
  readonly #dimensions: number
  readonly #limit: number
  readonly #entries: Entry[] = []
  /** Places by text, in the order of use: what was used longest ago comes first. */
  readonly #places = new Map<string, number>()
  #vectors: Int8Array

  constructor(dimensions: number, limit: number) {
    this.#dimensions = dimensions
    this.#limit = limit
    this.#vectors = new Int8Array(FIRST_CAPACITY * dimensions)
  }

  get size(): number {
    return this.#entries.length
  }

  /** The entry of this very text, unless it has expired. */
  find(text: string, nowMs: number): Entry | undefined {
    const place = this.#places.get(text)
    const entry = place === undefined ? undefined : this.#entries[place]
    if (entry === undefined || entry.expiresAtMs > nowMs) return entry
    this.remove(entry)
    return undefined
  }

  /** The nearest entries, at most `count`, at least as near as `leastCosine`, nearest first; none that has expired. */
  nearest(vector: Int8Array, { count, leastCosine, nowMs }: NearestOptions): Neighbour[] {
    const found: Neighbour[] = []
    for (const [place, entry] of this.#entries.entries()) {
      const cosine = this.#dot(vector, place * this.#dimensions) / SCALE_SQUARED
      if (cosine < leastCosine || cosine <= (found[count - 1]?.cosine ?? -1) || entry.expiresAtMs <= nowMs) continue
      const rank = found.findIndex((other) => other.cosine < cosine)
      found.splice(rank === -1 ? found.length : rank, 0, { entry, cosine })
      if (found.length > count) found.pop()
    }
    return found
  }

  /** Keeps an entry, in the place of one with the same text; what was used longest ago goes when the scope is full. */
  add(entry: Entry, vector: Int8Array | undefined): void {
    const known = this.#places.get(entry.text)
    let dropped = known === undefined ? undefined : this.#entries[known]
    if (dropped === undefined && this.#entries.length >= this.#limit) dropped = this.#leastUsed()
    if (dropped !== undefined) this.remove(dropped)
    const place = this.#entries.push(entry) - 1
    this.#reserve(this.#entries.length)
    const start = place * this.#dimensions
    if (vector === undefined) this.#vectors.fill(0, start, start + this.#dimensions)
    else this.#vectors.set(vector, start)
    this.#places.set(entry.text, place)
  }

  /** An entry was given: it is the last to go. */
  touch({ text }: Entry): void {
    const place = this.#places.get(text)
    if (place === undefined) return
    this.#places.delete(text)
    this.#places.set(text, place)
  }

  /** Forgets an entry. The last one moves into its place. */
  remove({ text }: Entry): void {
    const place = this.#places.get(text)
    if (place === undefined) return
    const last = this.#entries.pop()
    this.#places.delete(text)
    if (last === undefined || place === this.#entries.length) return
    this.#entries[place] = last
    this.#places.set(last.text, place)
    const [from, size] = [this.#entries.length * this.#dimensions, this.#dimensions]
    this.#vectors.copyWithin(place * size, from, from + size)
  }

  /** The entries that lead to a reply: its own text, and aliases. */
  leadingTo(id: string): Entry[] {
    return this.#entries.filter((entry) => entry.id === id)
  }

  #leastUsed(): Entry | undefined {
    const [place] = this.#places.values()
    return place === undefined ? undefined : this.#entries[place]
  }

  #reserve(count: number): void {
    if (count * this.#dimensions <= this.#vectors.length) return
    const grown = new Int8Array(Math.min(this.#limit, Math.ceil(count * GROWTH)) * this.#dimensions)
    grown.set(this.#vectors)
    this.#vectors = grown
  }

  /** The loop that counts: four sums at once, and no fallbacks, for the indices are within both arrays. */
  #dot(vector: Int8Array, start: number): number {
    const vectors = this.#vectors
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let i = 0, k = start; i < vector.length; i += 4, k += 4) {
      a += vector[i]! * vectors[k]!
      b += vector[i + 1]! * vectors[k + 1]!
      c += vector[i + 2]! * vectors[k + 2]!
      d += vector[i + 3]! * vectors[k + 3]!
    }
    return a + b + c + d
  }
}

/** What is looked for. */
export interface NearestOptions {
  readonly count: number
  readonly leastCosine: number
  readonly nowMs: number
}
