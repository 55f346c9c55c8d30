import type { Balance } from './balance.ts'
import { type Cached, type Confirmed, type Entry, isLive, type SharedPrefix } from './beliefs.ts'
import { type InputPrices, type Lifetime, lifetimeOfTail, type Odds } from './economics.ts'
import type { Place } from './outline.ts'
import type { PlannedMark } from './plan.ts'

/** Most marks that the provider takes in a request. */
const MOST_MARKS = 4

/** A shared prefix of a request, with the lifetime that pays. */
export interface Arrived {
  readonly place: Place
  readonly cached: SharedPrefix
  readonly odds: Odds
  readonly lifetime: Lifetime | undefined
}

/** A turn, and the earlier turns that it continues, the latest last. */
export interface Turn {
  readonly entry: Entry
  readonly earlier: readonly Entry[]
  /** Time since the latest of them. */
  readonly sinceTurnMs: number | undefined
  readonly odds: Odds
}

/** Inputs of a choice. */
export interface Choice {
  readonly shared: readonly Arrived[]
  readonly turn: Turn
  readonly leastTokens: number
  readonly prices: InputPrices
  readonly balance: Balance
  readonly confirmed: Readonly<Record<Lifetime, Confirmed>>
  readonly nowMs: number
}

/** Returns the marks, in the order of their places. */
export function choose(choice: Choice): PlannedMark[] {
  const { shared, turn, prices, balance } = choice
  const live = turn.earlier.filter((entry) => entry.place !== undefined && isReadable(choice, entry))
  const all = [...live, ...shared.map(({ cached }) => cached).filter((cached) => isReadable(choice, cached))]
  const expectedTokens = Math.max(0, ...all.map((cached) => cached.tokens * shareRead(choice, cached)))
  const mayWrite = balance.mayWrite(expectedTokens, prices)
  const tail = mayWrite ? tailOf(choice, all) : undefined
  // The latest is where the read ends; one of an hour must be read to last on.
  const reads = new Set([live.findLast(({ lifetime }) => lifetime === '1h'), live.at(-1)])
  const ofTurns = [...reads].flatMap((entry): PlannedMark[] =>
    entry?.place === undefined
      ? []
      : [{ place: entry.place, cached: entry, lifetime: entry.lifetime ?? '5m', isLive: true }],
  )
  const marks = [...marksOfShared(choice, { tail: tail?.lifetime, mayWrite }), ...ofTurns, ...(tail ? [tail] : [])]
  return inOrderOfLifetimes(marks.slice(-MOST_MARKS))
}

/** Returns true where a read can be expected: a mark whose read fails is a write. */
function isReadable(choice: Choice, cached: Cached): boolean {
  const { read, write } = choice.prices
  const share = shareRead(choice, cached)
  return isLive(cached, choice.nowMs) && share * read + (1 - share) * write['5m'] < 1
}

function shareRead({ confirmed }: Choice, { lifetime = '5m' }: Cached): number {
  return confirmed[lifetime].share
}

/** Returns the mark at the end of this turn; `undefined` where it does not pay, or where one is. */
function tailOf(
  { shared, turn: { entry, odds }, leastTokens, prices }: Choice,
  live: readonly Cached[],
): PlannedMark | undefined {
  const { place, tokens } = entry
  if (place === undefined || tokens < leastTokens || live.includes(entry)) return undefined
  // Other conversations keep alive what they share with this one.
  const keptTokens = Math.max(0, ...shared.map(({ cached, odds: { soon } }) => cached.tokens * soon))
  const hourTokens = mostTokens(live.filter(({ lifetime }) => lifetime === '1h'))
  const lifetime = lifetimeOfTail(
    { odds, newTokens: tokens - mostTokens(live), notForAnHourTokens: tokens - Math.max(hourTokens, keptTokens) },
    prices,
  )
  return lifetime && { place, cached: entry, lifetime, isLive: false }
}

function mostTokens(cached: readonly Cached[]): number {
  return Math.max(0, ...cached.map(({ tokens }) => tokens))
}

/** Returns the marks of tools and system: where they can be read, where a write pays, and where one comes free with the tail's. */
function marksOfShared(
  choice: Choice,
  { tail, mayWrite }: { tail: Lifetime | undefined; mayWrite: boolean },
): PlannedMark[] {
  const { shared, leastTokens, nowMs } = choice
  const marks: PlannedMark[] = []
  for (const { place, cached, lifetime } of shared.toReversed()) {
    if (cached.tokens < leastTokens) continue
    const isRead = isReadable(choice, cached)
    const isWritten = tail !== undefined || (mayWrite && lifetime !== undefined && !cached.isBeingWritten(nowMs))
    if (isRead || isWritten) marks.unshift({ place, cached, lifetime: lifetime ?? tail ?? '5m', isLive: isRead })
    // What is before it is read with it.
    if (isRead) break
  }
  return marks
}

/** The provider takes marks of an hour only before those of five minutes. */
function inOrderOfLifetimes(marks: readonly PlannedMark[]): PlannedMark[] {
  const last = marks.findLastIndex(({ lifetime }) => lifetime === '1h')
  return marks.map((mark, index) => (index < last ? { ...mark, lifetime: '1h' } : mark))
}
