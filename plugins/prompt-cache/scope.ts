import { Balance } from './balance.ts'
import { Confirmed, type SharedPrefix, Tallies, type Turns, UnmarkedReads } from './beliefs.ts'
import type { Odds } from './economics.ts'
import type { PriorOdds, Tally } from './odds.ts'
import type { Outline, Place } from './outline.ts'

/** Observations that odds of a broader kind count for. */
const WEIGHT = { caller: 3, shared: 2, conversation: 8 }
/** Odds before anything is known: without evidence, only the middle of a conversation is marked. */
const PRIOR = {
  shared: { soon: 0.1, laterIfNotSoon: 0.05 },
  first: { soon: 0.1, laterIfNotSoon: 0.05 },
  text: { soon: 0.5, laterIfNotSoon: 0.1 },
  result: { soon: 0.9, laterIfNotSoon: 0.1 },
}
const MOST_DEPTH = 2
const MOST_ARRIVALS = 2

/** Odds, and the tallies that will learn the result. */
export interface Estimate {
  readonly odds: Odds
  readonly tallies: readonly Tally[]
}

/** Knowledge of a caller's requests to a model. */
export class Scope {
  readonly #tallies = new Tallies()
  readonly balance = new Balance()
  readonly unmarkedReads = new UnmarkedReads()
  readonly confirmed = { '5m': new Confirmed(), '1h': new Confirmed() }
  /** Longest prefix that was marked, and neither read nor written. */
  uncachedTokens = 0

  /** Takes in that a marked prefix was not cached: below twice the documented length it is too short. */
  noteUncached(tokens: number, leastTokens: number): void {
    if (tokens < 2 * leastTokens) this.uncachedTokens = Math.max(this.uncachedTokens, tokens)
  }

  /** Estimates when a shared prefix arrives again; a new one by how other new ones have done. */
  oddsOfShared({ tally, arrivals }: SharedPrefix, kind: Place['kind']): Estimate {
    const callers = this.#tallies.of(`${kind} ${Math.min(arrivals, MOST_ARRIVALS)}`)
    const odds = tally.odds(callers.odds(PRIOR.shared, WEIGHT.caller), WEIGHT.shared)
    return { odds: this.#trusted(odds), tallies: [tally, callers] }
  }

  /** Estimates when the next turn of a conversation comes: by its own turns, by those with the same beginning, by all. */
  oddsOfTurn({ turn, depth }: Outline, conversation: Turns, shared: SharedPrefix | undefined): Estimate {
    const name = `${turn} ${Math.min(depth, MOST_DEPTH)}`
    const isKnown = shared !== undefined && shared.arrivals > 1
    const callers = this.#tallies.of(`${name} ${isKnown ? 'known' : 'new'}`)
    const withSame = shared?.turns.of(name)
    const own = conversation.tally[turn]
    const prior = depth === 0 && turn === 'text' ? PRIOR.first : PRIOR[turn]
    const broad = callers.odds(prior, WEIGHT.caller)
    const odds = own.odds(withSame?.odds(broad, WEIGHT.shared) ?? broad, WEIGHT.conversation)
    return { odds: this.#trusted(odds), tallies: [own, callers, ...(withSame ? [withSame] : [])] }
  }

  /** Returns the odds that a prefix is read, as far as the bills have confirmed earlier expectations. */
  #trusted({ soon, laterIfNotSoon }: PriorOdds): Odds {
    const reads = soon * this.confirmed['5m'].share
    return { soon: reads, later: reads + (1 - soon) * laterIfNotSoon * this.confirmed['1h'].share }
  }
}
