import type { Balance, Billed } from './balance.ts'
import { believe, type Cached, type Confirmed, SharedPrefix, type UnmarkedReads } from './beliefs.ts'
import type { InputPrices, Lifetime, Odds } from './economics.ts'
import type { Place } from './outline.ts'

/** A mark to be set. */
export interface Mark {
  readonly place: Place
  readonly lifetime: Lifetime
}

/** A mark, and what is believed of the prefix that ends with it. */
export interface PlannedMark extends Mark {
  readonly cached: Cached
  /** True when the provider should have it: the mark reads it. */
  readonly isLive: boolean
}

/** Inputs of a plan. */
export interface PlanParts {
  readonly marks: readonly PlannedMark[]
  /** Odds of a further turn. */
  readonly odds: Odds
  readonly totalTokens: number
  /** Time since the turn that this one continues; `undefined` without one that is remembered. */
  readonly sinceTurnMs: number | undefined
  readonly nowMs: number
  readonly prices: InputPrices
  readonly confirmed: Readonly<Record<Lifetime, Confirmed>>
  readonly balance: Balance
  readonly unmarkedReads: UnmarkedReads
  /** Called when nothing of a prefix with marks was read or written. */
  onUncached(tokens: number): void
}

/** A read of less than this share of the expected tokens was a miss: token counts are estimates. */
const LEAST_READ_SHARE = 0.5

/** Marks of one request. End it with `settle`, or with `fail`. */
export class Plan {
  readonly #parts: PlanParts
  readonly #writes: readonly SharedPrefix[]
  readonly #costTokens: number
  #isEnded = false

  constructor(parts: PlanParts) {
    this.#parts = parts
    const written = parts.marks.filter(({ isLive }) => !isLive).map(({ cached }) => cached)
    this.#writes = written.filter((cached) => cached instanceof SharedPrefix)
    for (const shared of this.#writes) shared.beginWrite(parts.nowMs)
    this.#costTokens = this.expectedWriteTokens * (parts.prices.write[this.#longest] - 1)
    parts.balance.begin(this.#costTokens)
  }

  get marks(): readonly Mark[] {
    return this.#parts.marks
  }

  /** Odds that the conversation goes on. */
  get odds(): Odds {
    return this.#parts.odds
  }

  /** Share of the input that first turns of this caller have read without marks. */
  get unmarkedReadShare(): number {
    return this.#parts.unmarkedReads.share
  }

  get sinceTurnMs(): number | undefined {
    return this.#parts.sinceTurnMs
  }

  get totalTokens(): number {
    return this.#parts.totalTokens
  }

  /** Estimated tokens that the provider should read from its cache. */
  get expectedReadTokens(): number {
    return Math.max(0, ...this.#parts.marks.filter(({ isLive }) => isLive).map(({ cached }) => cached.tokens))
  }

  /** Estimated tokens that the provider should write. */
  get expectedWriteTokens(): number {
    const marked = Math.max(0, ...this.#parts.marks.map(({ cached }) => cached.tokens))
    return Math.max(0, marked - this.expectedReadTokens)
  }

  /** Takes in that a reply has begun: from now on others can read what was written. */
  begin(): void {
    for (const shared of this.#writes) shared.endWrite()
    for (const { cached, lifetime } of this.#parts.marks) believe(cached, lifetime, this.#parts.nowMs)
  }

  /** Takes in the bill. */
  settle(billed: Billed): void {
    this.#end()
    this.begin()
    const { marks, balance, prices, confirmed, unmarkedReads, sinceTurnMs, onUncached } = this.#parts
    balance.settle(billed, prices)
    if (marks.length === 0) {
      for (const each of Object.values(confirmed)) each.fade()
      if (sinceTurnMs === undefined) unmarkedReads.observe(billed.inputTokens, billed.readTokens)
      return
    }
    const isCached = billed.readTokens + billed.writtenTokens['5m'] + billed.writtenTokens['1h'] > 0
    if (!isCached) {
      for (const { cached } of marks) cached.lifetime = undefined
      onUncached(marks.at(-1)?.cached.tokens ?? 0)
    }
    const longest = marks.findLast(({ isLive }) => isLive)
    if (longest === undefined) return
    const expected = this.expectedReadTokens
    const isRead = billed.readTokens >= expected * LEAST_READ_SHARE
    confirmed[longest.cached.lifetime ?? '5m'].observe(expected, isRead ? expected : 0)
  }

  /** Takes in that there is no bill. */
  fail(): void {
    this.#end()
    for (const shared of this.#writes) shared.endWrite()
  }

  #end(): void {
    if (!this.#isEnded) this.#parts.balance.end(this.#costTokens)
    this.#isEnded = true
  }

  get #longest(): Lifetime {
    return this.#parts.marks.some(({ lifetime, isLive }) => lifetime === '1h' && !isLive) ? '1h' : '5m'
  }
}
