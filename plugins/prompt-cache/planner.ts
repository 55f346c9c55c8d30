import { LRUCache } from 'lru-cache'
import { type Entry, SharedPrefix, Turns } from './beliefs.ts'
import { type InputPrices, lifetimeOfShared } from './economics.ts'
import { type Arrived, choose, type Turn } from './mark-choice.ts'
import { PendingPrefixes } from './odds.ts'
import type { Outline, Prefix } from './outline.ts'
import { Plan } from './plan.ts'
import { Scope } from './scope.ts'

/*
 * DESIGN. Which prefixes a mark is worth.
 *
 *     tools │ system │ message 1 … message k │ message k+1 … message n
 *           └shared──┘                       └earlier turn           └this turn
 *
 * Purpose: a mark makes the provider write a prefix, at 1.25 times the price of input or twice, for later reads at a tenth.
 * It pays only if the prefix is asked for again in time. That is learnt without marks: every request shows which earlier
 * prefixes it begins with, and after how long. So traffic that never repeats itself is never marked, and costs what it
 * costs without this plugin.
 *
 * - The end of a conversation is written when its next turn is likely to come in time. The odds are those of turns like
 *   this one: in this conversation, in conversations with the same tools and system, of this caller.
 * - Tools and system are written when conversations that begin with them arrive often enough. While one request writes
 *   them, others do not: they could not read them yet, and would pay for a second write.
 * - What the cache has is always marked where it ends: a read is cheaper than input, and the provider looks back only 20
 *   blocks from a mark.
 *
 * Guarantees: at most four marks, those of an hour first; memory is bounded.
 * Limits: one process's; after a start it learns again.
 */

const MOST_SCOPES = 2000

/** A request to be planned. */
export interface Asked {
  /** Caller, provider and model: whose cache it is. */
  readonly scope: string
  readonly conversation: string
  readonly outline: Outline
  readonly prices: InputPrices
  /** Fewest tokens of a prefix that the model caches. */
  readonly leastTokens: number
}

/** A request whose plan is being made. */
interface Planning {
  readonly asked: Asked
  readonly scope: Scope
  readonly nowMs: number
}

/** Plans the marks of requests, and learns from the requests and from their bills. */
export class Planner {
  readonly #scopes = new LRUCache<string, Scope>({ max: MOST_SCOPES })
  readonly #shared: LRUCache<string, SharedPrefix>
  readonly #conversations: LRUCache<string, Turns>
  readonly #pending = new PendingPrefixes()

  /** Remembers at most so many conversations, and as many beginnings. */
  constructor(most: number) {
    this.#shared = new LRUCache({ max: most })
    this.#conversations = new LRUCache({ max: most })
  }

  /** Returns the plan for a request that arrives now. End it with the bill. */
  plan(asked: Asked, nowMs: number): Plan {
    this.#pending.sweep(nowMs)
    const scope = entryOf(this.#scopes, asked.scope, () => new Scope())
    const planning: Planning = { asked, scope, nowMs }
    const shared = asked.outline.shared.map((prefix) => this.#arrive(planning, prefix))
    const turn = this.#turn(planning, shared)
    const leastTokens = Math.max(asked.leastTokens, scope.uncachedTokens + 1)
    const { prices } = asked
    const { confirmed, balance, unmarkedReads } = scope
    const marks = choose({ shared, turn, leastTokens, prices, balance, confirmed, nowMs })
    const onUncached = (tokens: number) => scope.noteUncached(tokens, asked.leastTokens)
    const { odds, entry, sinceTurnMs } = turn
    const learnt = { prices, confirmed, balance, unmarkedReads, onUncached }
    return new Plan({ marks, odds, totalTokens: entry.tokens, sinceTurnMs, nowMs, ...learnt })
  }

  /** Counts the arrival of a prefix that conversations share. */
  #arrive({ asked, scope, nowMs }: Planning, prefix: Outline['shared'][number]): Arrived {
    const key = `${asked.scope} ${prefix.place.kind} ${prefix.digest}`
    const cached = entryOf(this.#shared, key, () => new SharedPrefix(prefix.tokens))
    if (cached.pending !== undefined) this.#pending.hit(cached.pending, nowMs)
    const { odds, tallies } = scope.oddsOfShared(cached, prefix.place.kind)
    cached.pending = this.#pending.add(tallies, nowMs)
    cached.arrivals += 1
    return { place: prefix.place, cached, odds, lifetime: lifetimeOfShared(odds, asked.prices) }
  }

  /** Counts a turn of a conversation, and finds the earlier ones that it continues. */
  #turn({ asked, scope, nowMs }: Planning, shared: readonly Arrived[]): Turn {
    const { outline } = asked
    const { count } = outline
    const conversation = entryOf(this.#conversations, `${asked.scope} ${asked.conversation}`, () => new Turns())
    const prefixes = prefixesOf(outline, conversation.entries)
    const earlier = conversation.entries
      .filter((entry) => prefixes.get(entry.count)?.digest === entry.digest)
      .sort((a, b) => a.count - b.count)
    const last = earlier.at(-1)
    if (last !== undefined) this.#pending.hit(last.pending, nowMs)
    const { odds, tallies } = scope.oddsOfTurn(outline, conversation, shared.at(-1)?.cached)
    const pending = this.#pending.add(tallies, nowMs)
    // Safe: the count of this request is among those asked for.
    const prefix = prefixes.get(count) as Prefix
    // A repeated request has the entry of the first.
    const same = last?.count === count ? last : undefined
    const cached = { lifetime: same?.lifetime, usedAtMs: same?.usedAtMs ?? 0 }
    const entry: Entry = { count, ...prefix, ...cached, place: outline.placeIn(count - 1), pending }
    conversation.add(entry)
    const sinceTurnMs = last && nowMs - last.pending.atMs
    return { entry, sinceTurnMs, earlier: same === undefined ? earlier : [...earlier.slice(0, -1), entry], odds }
  }
}

/** Returns the prefixes of this request where earlier turns ended, and its own, by their numbers of messages. */
function prefixesOf(outline: Outline, entries: readonly Entry[]): Map<number, Prefix> {
  const counts = [...new Set([...entries.map(({ count }) => count), outline.count])]
    .filter((count) => count <= outline.count)
    .sort((a, b) => a - b)
  const prefixes = outline.prefixes(counts)
  return new Map(prefixes.map((prefix, index) => [counts[index] ?? 0, prefix]))
}

function entryOf<Value extends object>(cache: LRUCache<string, Value>, key: string, create: () => Value): Value {
  let value = cache.get(key)
  if (value === undefined) {
    value = create()
    cache.set(key, value)
  }
  return value
}
