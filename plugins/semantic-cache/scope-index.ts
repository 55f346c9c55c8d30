import type { Fact } from './entries/fact.ts'
import { type Entry, entryBytes, isLater, isSame, labelOf } from './entry.ts'
import type { GraphOwner, ScopeGraph } from './graph/graphs.ts'
import { Lessons } from './lessons.ts'
import { VectorList } from './vector-list.ts'

/** An entry, and how near its vector is. */
export interface Neighbour {
  readonly entry: Entry
  readonly cosine: number
}

/** As many vectors are looked at one by one: in more, an exact scan would hold up the loop for over a millisecond. */
const MOST_SCANNED = 2000
const FED_AT_ONCE = 500
/** About the memory of a scope without entries. Measured on Node 26: 2,050. */
const SCOPE_BYTES = 2100

/** Bounds of one scope; what was used longest ago goes first. */
export interface ScopeBounds {
  readonly entries: number
  /** Of memory. Default: none. */
  readonly bytes?: number | undefined
}

/** What came of a fact. */
export interface Applied {
  /** The fact that was made, if it is news to this scope. */
  readonly fact: Fact | undefined
  /** Entries that had to go for it. */
  readonly dropped: readonly Entry[]
}

const NO_NEWS: Applied = { fact: undefined, dropped: [] }

/**
 * DESIGN — the texts of one scope
 *
 *   vectors  [ v0 │ v1 │ v2 │ … │ room ]   packed, scanned from end to end
 *   entries  [ e0 │ e1 │ e2 │ … ]          the same places
 *
 * Exact: every vector is looked at, 0.1 µs each, a model's 0.5 µs. Beyond 2,000 a graph in a thread of its own proposes some,
 * whose cosines are taken here; while there is none, or it is being built, the last 2,000 are looked at. Bounded in entries and
 * in bytes: when the scope is full, what was used longest ago goes. A place that falls free is filled by the last one. Entries without a vector
 * are found by their text alone. Facts may come in any order and twice: see `entries/fact.ts`.
 */
export class ScopeIndex implements GraphOwner {
  readonly #bounds: ScopeBounds
  readonly #entries: Entry[] = []
  /** Places by text, in the order of use: what was used longest ago comes first. */
  readonly #places = new Map<string, number>()
  /** What was found wrong here. */
  readonly lessons = new Lessons()
  readonly #openGraph: OpenGraph | undefined
  #graph: ScopeGraph | undefined
  /** Entries by their labels in the graph. */
  readonly #labelled = new Map<number, Entry>()
  readonly #vectors: VectorList
  #usefulUntilMs = 0
  #entryBytes = 0

  constructor(dimensions: number, bounds: ScopeBounds, openGraph?: OpenGraph) {
    this.#vectors = new VectorList(dimensions)
    this.#bounds = bounds
    this.#openGraph = openGraph
  }

  get size(): number {
    return this.#entries.length
  }

  /** About how much memory it takes, in bytes. */
  get bytes(): number {
    return SCOPE_BYTES + this.#entryBytes + this.lessons.bytes
  }

  /** Until when it may be of use: when its last entry has expired, and nobody has asked for it lately, it may go. */
  get usefulUntilMs(): number {
    return this.#usefulUntilMs
  }

  /** It is of use until this moment at least. */
  keepUntil(atMs: number): void {
    this.#usefulUntilMs = Math.max(this.#usefulUntilMs, atMs)
  }

  /** Whether a search looks at all entries: there are few, or the graph is ready. */
  get isWhole(): boolean {
    return this.#entries.length <= MOST_SCANNED || this.#graph?.isReady === true
  }

  /** The entry of this very text, unless it has expired. */
  find(text: string, nowMs: number): Entry | undefined {
    const place = this.#places.get(text)
    const entry = place === undefined ? undefined : this.#entries[place]
    if (entry === undefined || entry.expiresAtMs > nowMs) return entry
    this.remove(entry)
    return undefined
  }

  /** The nearest entries, as `nearest` gives them: of all, also where those are too many to be looked at one by one. */
  search(vector: Int8Array, options: NearestOptions): Neighbour[] | Promise<Neighbour[]> {
    if (this.#graph?.isReady !== true) return this.nearest(vector, options)
    return this.#graph.search(vector).then(
      (labels) => {
        const found: Neighbour[] = []
        for (const place of labels.flatMap((label) => this.#placeOf(label)))
          this.#consider(place, { found, vector, ...options })
        return found
      },
      () => this.nearest(vector, options),
    )
  }

  /**
   * The nearest entries, at most `count`, at least as near as `leastCosine`, nearest first; none that has expired. Of more
   * than 2,000, only those that came last are looked at.
   */
  nearest(vector: Int8Array, options: NearestOptions): Neighbour[] {
    const found: Neighbour[] = []
    const considering = { found, vector, ...options }
    const first = Math.max(0, this.#entries.length - MOST_SCANNED)
    for (let place = first; place < this.#entries.length; place++) this.#consider(place, considering)
    return found
  }

  /** Gives the graph everything again, in portions that do not hold up the loop. */
  feed(): void {
    const entries = [...this.#entries]
    const feedFrom = (start: number): void => {
      for (const entry of entries.slice(start, start + FED_AT_ONCE)) this.#feedOne(entry)
      if (start + FED_AT_ONCE < entries.length) setImmediate(feedFrom, start + FED_AT_ONCE)
    }
    feedFrom(0)
  }

  /** Gives up the graph's memory; the scope is not to be used any more. */
  close(): void {
    this.#graph?.drop()
  }

  #consider(place: number, { found, vector, count, leastCosine, nowMs }: Considering): void {
    const entry = this.#entries[place]
    if (entry === undefined) return
    const cosine = this.#vectors.cosine(vector, place)
    if (cosine < leastCosine || cosine <= (found[count - 1]?.cosine ?? -1) || entry.expiresAtMs <= nowMs) return
    const rank = found.findIndex((other) => other.cosine < cosine)
    found.splice(rank === -1 ? found.length : rank, 0, { entry, cosine })
    if (found.length > count) found.pop()
  }

  /** Takes a fact in, whoever found it. */
  apply(fact: Fact): Applied {
    switch (fact.kind) {
      case 'entry':
        return this.add(fact.entry, fact.vector)
      case 'removal':
        return this.#removeReply(fact)
      case 'block':
        return this.lessons.block(fact) ? { fact, dropped: this.#makeRoom() } : NO_NEWS
    }
  }

  /** Keeps an entry, in the place of an older one with the same text; what was used longest ago goes when the scope is full. */
  add(entry: Entry, vector: Int8Array | undefined): Applied {
    const known = this.#at(entry.text)
    if (this.lessons.isRemoved(entry.id) || (known !== undefined && isLater(known, entry))) return NO_NEWS
    if (known !== undefined) this.remove(known)
    const place = this.#entries.push(entry) - 1
    this.#vectors.set(place, vector)
    this.#places.set(entry.text, place)
    this.#entryBytes += this.#bytesAt(place)
    this.keepUntil(entry.expiresAtMs)
    this.#show(entry)
    const replaced = known === undefined || isSame(known, entry) ? [] : [known]
    return { fact: { kind: 'entry', entry, vector }, dropped: [...replaced, ...this.#makeRoom()] }
  }

  /** Forgets what was used longest ago, until the scope is within its bounds; but for the last entry, which is new. */
  #makeRoom(): Entry[] {
    const { entries, bytes = Number.POSITIVE_INFINITY } = this.#bounds
    const leaving: Entry[] = []
    while (this.#entries.length > 1 && (this.#entries.length > entries || this.bytes > bytes)) {
      const oldest = this.#leastUsed()
      if (oldest === undefined) break
      this.remove(oldest)
      leaving.push(oldest)
    }
    return leaving
  }

  #bytesAt(place: number): number {
    const entry = this.#entries[place]
    return entry === undefined ? 0 : entryBytes(entry) + this.#vectors.bytesAt(place)
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
    const leaving = this.#entries[place]
    if (leaving !== undefined) this.#removeFromGraph(leaving)
    this.#entryBytes -= this.#bytesAt(place)
    const last = this.#entries.pop()
    this.#places.delete(text)
    if (last === undefined || place === this.#entries.length) return
    this.#entries[place] = last
    this.#places.set(last.text, place)
    this.#vectors.set(place, this.#vectors.at(this.#entries.length))
  }

  #removeReply(fact: Extract<Fact, { kind: 'removal' }>): Applied {
    if (this.lessons.isRemoved(fact.id)) return NO_NEWS
    this.lessons.remove(fact)
    const leaving = this.leadingTo(fact.id)
    for (const entry of leaving) this.remove(entry)
    return { fact, dropped: [...leaving, ...this.#makeRoom()] }
  }

  /** Shows the graph a new entry; the one with which the scope has become too large to be scanned opens it. */
  #show(entry: Entry): void {
    if (this.#graph !== undefined) this.#feedOne(entry)
    else if (this.#openGraph !== undefined && this.#entries.length > MOST_SCANNED) {
      this.#graph = this.#openGraph(this)
      this.feed()
    }
  }

  #feedOne(entry: Entry): void {
    const place = this.#places.get(entry.text)
    // It may be gone meanwhile.
    if (place === undefined || this.#entries[place] !== entry) return
    const vector = this.#vectors.at(place)
    if (vector === undefined) return
    const label = labelOf(entry)
    this.#labelled.set(label, entry)
    this.#graph?.add(label, vector)
  }

  #removeFromGraph(entry: Entry): void {
    if (this.#graph === undefined) return
    const label = labelOf(entry)
    if (this.#labelled.get(label) !== entry) return
    this.#labelled.delete(label)
    this.#graph.remove(label)
  }

  /** The place of a candidate. What the graph remembers from before, and is here no more, leaves it. */
  #placeOf(label: number): number[] {
    const entry = this.#labelled.get(label)
    const place = entry && this.#places.get(entry.text)
    if (place === undefined) this.#graph?.remove(label)
    return place === undefined ? [] : [place]
  }

  #at(text: string): Entry | undefined {
    const place = this.#places.get(text)
    return place === undefined ? undefined : this.#entries[place]
  }

  /** The entries that lead to a reply: its own text, and aliases. */
  leadingTo(id: string): Entry[] {
    return this.#entries.filter((entry) => entry.id === id)
  }

  #leastUsed(): Entry | undefined {
    const [place] = this.#places.values()
    return place === undefined ? undefined : this.#entries[place]
  }
}

interface Considering extends NearestOptions {
  readonly found: Neighbour[]
  readonly vector: Int8Array
}

/** Opens the graph of a scope. */
export type OpenGraph = (owner: GraphOwner) => ScopeGraph

/** What is looked for. */
export interface NearestOptions {
  readonly count: number
  readonly leastCosine: number
  readonly nowMs: number
}
