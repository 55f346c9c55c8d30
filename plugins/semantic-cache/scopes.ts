import type { Clock, Log } from 'turnpike/plugin'
import type { EntryBook } from './entries/book.ts'
import type { Fact } from './entries/fact.ts'
import type { Entry } from './entry.ts'
import type { GraphOwner, ScopeGraphs } from './graph/graphs.ts'
import { blockKey } from './lessons.ts'
import { type ScopeBounds, ScopeIndex } from './scope-index.ts'

/** Entries of one scope at most, unless the operator says otherwise. */
const MOST_ENTRIES_OF_A_SCOPE = 2000
/** A request waits this long for a scope to be loaded. */
const LOAD_WITHIN_MS = 100
const MOST_LOADING = 500
const REST_AFTER_FAILURE_MS = 250
/** One that was asked for is kept so long, if nothing in it lasts longer: that it is empty is worth knowing. */
const ASKED_KEPT_MS = 60_000
/** Removals and blocks outlive every reply that they may be about. */
const LESSONS_KEPT_MS = 31 * 24 * 3_600_000

/** Where entries are kept beyond the memory of this process. */
export interface Keeping {
  readonly book: EntryBook
  readonly clock: Clock
  readonly log: Log
}

/** A scope, or why there is none to look into. */
export type Opened =
  | { readonly index: ScopeIndex | undefined; readonly reason: undefined }
  | { readonly index: undefined; readonly reason: 'entries-unreachable' | 'entries-loading' }

/** What scopes are made from. */
export interface ScopesOptions {
  /** Entries of one scope at most; default 2,000. */
  readonly maxScopeEntries?: number
  /** Memory of all scopes in bytes, about. Default: no bound. */
  readonly maxBytes?: number
  /** Default: entries go with the process. */
  readonly keeping?: Keeping | undefined
  /** For scopes of more than 2,000 entries; without, the last 2,000 are compared. */
  readonly graphs?: ScopeGraphs | undefined
}

/**
 * DESIGN — scopes
 *
 *            open             ┌─ in memory: the scopes used last, whole, at most `maxEntries` and `maxBytes`
 *   request ──────► Scopes ───┤
 *              add            └─ book: all of them ◄──── other processes; what they add and remove is told at once
 *
 * A scope is loaded when it is first asked for, and followed from then on, so that looking into it waits for nobody. While
 * the book does not answer, nothing is found: another process may have learned meanwhile that an answer is wrong.
 */
export class Scopes {
  readonly #scopes = new Map<string, ScopeIndex>()
  /** As they were counted. */
  readonly #weights = new WeakMap<ScopeIndex, Weight>()
  readonly #loading = new Map<string, Loading>()
  readonly #dimensions: number
  readonly #maxEntries: number
  readonly #maxBytes: number
  readonly #scopeBounds: ScopeBounds
  readonly #keeping: Keeping | undefined
  readonly #graphs: ScopeGraphs | undefined
  #entryCount = 0
  #bytes = 0
  #restUntilMs = 0

  constructor(dimensions: number, maxEntries: number, options: ScopesOptions = {}) {
    const { maxScopeEntries = MOST_ENTRIES_OF_A_SCOPE, maxBytes, keeping, graphs } = options
    this.#dimensions = dimensions
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY
    this.#scopeBounds = { entries: Math.min(maxScopeEntries, maxEntries), bytes: maxBytes }
    this.#keeping = keeping
    this.#graphs = graphs
    keeping?.book.follow({
      onFact: ({ scope, fact }) => this.#take(scope, [fact]),
      onForget: (scope) => this.#forget(scope),
    })
  }

  get entryCount(): number {
    return this.#entryCount
  }

  /** About how much memory all scopes take, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** The scope, if it is in memory; it is the last to go then. */
  get(scope: string): ScopeIndex | undefined {
    const index = this.#scopes.get(scope)
    if (index === undefined) return undefined
    index.keepUntil(this.#nowMs() + ASKED_KEPT_MS)
    this.#scopes.delete(scope)
    this.#scopes.set(scope, index)
    return index
  }

  /** The scope, loaded if need be. Never rejects. */
  async open(scope: string): Promise<Opened> {
    const index = this.get(scope)
    if (index !== undefined || this.#keeping === undefined) return { index, reason: undefined }
    if (this.#keeping.clock.nowMs() < this.#restUntilMs) return UNREACHABLE
    const loading = this.#loading.get(scope)?.opened ?? this.#load(scope, this.#keeping)
    return loading === undefined ? LOADING : await soon(loading)
  }

  /** Keeps an entry in its scope, and where others see it. An alias is an entry with the id of another. */
  add(scope: string, entry: Entry, vector: Int8Array | undefined): void {
    this.#learn(scope, { kind: 'entry', entry, vector })
  }

  /** A reply is not to be given any more in this scope, whatever text leads to it. */
  removeReply(scope: string, id: string): void {
    this.#learn(scope, { kind: 'removal', id, expiresAtMs: this.#nowMs() + LESSONS_KEPT_MS })
  }

  /** From now on the reply `id` does not answer this text, whatever its entries are called. */
  block(scope: string, text: string, id: string): void {
    this.#learn(scope, { kind: 'block', key: blockKey({ text, id }), expiresAtMs: this.#nowMs() + LESSONS_KEPT_MS })
  }

  isBlocked(scope: string, text: string, id: string): boolean {
    return this.#scopes.get(scope)?.lessons.isBlocked({ text, id }, this.#nowMs()) ?? false
  }

  /** Forgets an entry whose reply is gone. */
  remove(scope: string, entry: Entry): void {
    this.#change(scope, (index) => index.remove(entry))
    this.#tell(({ book }) => book.drop(scope, [entry]))
  }

  async close(): Promise<void> {
    await Promise.all([this.#keeping?.book.close(), this.#graphs?.close()])
  }

  /** What is forgotten with the process needs no time. */
  #nowMs(): number {
    return this.#keeping?.clock.nowMs() ?? 0
  }

  #learn(scope: string, fact: Fact): void {
    if (this.#keeping === undefined && !this.#scopes.has(scope)) this.#put(scope, this.#createIndex(scope))
    const { isNews, dropped } = this.#take(scope, [fact])
    if (!isNews) return
    this.#tell(({ book }) => book.append(scope, [fact]))
    this.#drop(scope, dropped)
  }

  /** Takes in what is known of a scope, if that is in memory or will be. */
  #take(scope: string, facts: readonly Fact[]): { isNews: boolean; dropped: Entry[] } {
    const dropped: Entry[] = []
    let isNews = true
    const apply = (index: ScopeIndex): void => {
      const applied = facts.map((fact) => index.apply(fact))
      isNews = applied.some(({ fact }) => fact !== undefined)
      dropped.push(...applied.flatMap((one) => one.dropped))
    }
    const loading = this.#loading.get(scope)
    if (loading !== undefined) apply(loading.index)
    else this.#change(scope, apply)
    return { isNews, dropped }
  }

  #drop(scope: string, entries: readonly Entry[]): void {
    if (entries.length > 0) this.#tell(({ book }) => book.drop(scope, entries))
  }

  #change(scope: string, work: (index: ScopeIndex) => void): void {
    const index = this.#scopes.get(scope)
    if (index === undefined) return
    work(index)
    this.#weigh(index)
    this.#makeRoom()
  }

  #put(scope: string, index: ScopeIndex): void {
    this.#scopes.set(scope, index)
    this.#weigh(index)
  }

  #evict(scope: string, index: ScopeIndex): void {
    index.close()
    this.#scopes.delete(scope)
    this.#count(index, NOTHING)
  }

  #weigh(index: ScopeIndex): void {
    this.#count(index, { entries: index.size === 0 ? EMPTY_WEIGHT : index.size, bytes: index.bytes })
  }

  /** Counts a scope as this much, in the place of what it was counted as before: a look-up may have changed it since. */
  #count(index: ScopeIndex, weight: Weight): void {
    const before = this.#weights.get(index) ?? NOTHING
    this.#weights.set(index, weight)
    this.#entryCount += weight.entries - before.entries
    this.#bytes += weight.bytes - before.bytes
  }

  /** Those go that were used longest ago, as long as there is too much, or none of theirs is of use. */
  #makeRoom(): void {
    const nowMs = this.#nowMs()
    for (const [oldest, index] of this.#scopes) {
      const isWithin = this.#entryCount <= this.#maxEntries && this.#bytes <= this.#maxBytes
      if (isWithin && index.usefulUntilMs >= nowMs) return
      this.#evict(oldest, index)
    }
  }

  #load(scope: string, { book, clock, log }: Keeping): Promise<Opened> | undefined {
    if (this.#loading.size >= MOST_LOADING) return undefined
    const index = this.#createIndex(scope)
    const work = async (): Promise<Opened> => {
      try {
        await book.load(scope, (facts) => {
          if (this.#loading.get(scope)?.index === index) this.#drop(scope, this.#take(scope, facts).dropped)
        })
        return this.#finish(scope, index)
      } catch (error) {
        this.#restUntilMs = clock.nowMs() + REST_AFTER_FAILURE_MS
        if (this.#loading.get(scope)?.index === index) this.#loading.delete(scope)
        log.debug({ err: error }, 'entries.unreachable')
        return UNREACHABLE
      }
    }
    // Before the first answer can come: what others add from now on must not be missed.
    const opened = Promise.resolve().then(work)
    this.#loading.set(scope, { index, opened })
    return opened
  }

  #finish(scope: string, index: ScopeIndex): Opened {
    // It was forgotten meanwhile: something has been missed.
    if (this.#loading.get(scope)?.index !== index) return LOADING
    this.#loading.delete(scope)
    index.keepUntil(this.#nowMs() + ASKED_KEPT_MS)
    this.#put(scope, index)
    this.#makeRoom()
    return { index, reason: undefined }
  }

  #forget(scope: string | undefined): void {
    if (scope === undefined) {
      for (const index of this.#scopes.values()) index.close()
      this.#scopes.clear()
      this.#loading.clear()
      this.#entryCount = 0
      this.#bytes = 0
      return
    }
    this.#loading.delete(scope)
    const index = this.#scopes.get(scope)
    if (index !== undefined) this.#evict(scope, index)
  }

  #createIndex(scope: string): ScopeIndex {
    const graphs = this.#graphs
    const openGraph = graphs && ((owner: GraphOwner) => graphs.open(scope, owner))
    return new ScopeIndex(this.#dimensions, this.#scopeBounds, openGraph)
  }

  #tell(work: (keeping: Keeping) => Promise<void>): void {
    const keeping = this.#keeping
    if (keeping === undefined) return
    work(keeping).catch((error: unknown) => keeping.log.debug({ err: error }, 'entries.unreachable'))
  }
}

interface Loading {
  readonly index: ScopeIndex
  readonly opened: Promise<Opened>
}

const UNREACHABLE: Opened = { index: undefined, reason: 'entries-unreachable' }
const LOADING: Opened = { index: undefined, reason: 'entries-loading' }
/** That a scope is empty is worth knowing, and costs something. */
const EMPTY_WEIGHT = 1

/** What a scope counts as. */
interface Weight {
  readonly entries: number
  readonly bytes: number
}

const NOTHING: Weight = { entries: 0, bytes: 0 }

async function soon(work: Promise<Opened>): Promise<Opened> {
  const { promise: late, resolve } = Promise.withResolvers<Opened>()
  const timer = setTimeout(() => resolve(LOADING), LOAD_WITHIN_MS)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
