import { setTimeout as sleep } from 'node:timers/promises'
import type { SeenRequest } from '../support/provider/journal.ts'
import type { BreakScript, ErrorScript, Script } from '../support/provider/script.ts'
import type { Chance } from './random.ts'

/** Leads a provider's request back to the client's: the gateway forwards it unread. */
export const MARK_HEADER = 'x-claude-code-scenario'

/** When the provider received a client's request, and when it began to answer, by `performance.now()`. */
interface Crossing {
  arrivals: number
  arrivedAtMs: number
  answeredAtMs: number | undefined
}

/** A provider thinks for so long, on average. */
const THINKS_MS = 25
const BETWEEN_EVENTS_MS = 2
const WORDS = 'the quick gateway keeps what it must and forgets what it may so that a day ends as it began'.split(' ')

/**
 * Scripts a provider's requests: mostly it answers, after a while, in one chunk or as a stream; a few in a
 * hundred are refused, overloaded, broken or cut. It also records the times, so that the gateway's share of a wait can be
 * separated from the provider's.
 */
export class Mischief {
  readonly #chance: Chance
  readonly #crossings = new Map<string, Crossing>()
  #lull = false

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** From now on everything is answered. */
  end(): void {
    this.#lull = true
  }

  /** Begins to take down the times of a client's request. */
  expect(mark: string): void {
    this.#crossings.set(mark, { arrivals: 0, arrivedAtMs: 0, answeredAtMs: undefined })
  }

  /** Milliseconds that a request waited for the provider; `undefined` when it did not wait for it exactly once. */
  providerMs(mark: string): number | undefined {
    const crossing = this.#crossings.get(mark)
    this.#crossings.delete(mark)
    if (crossing?.arrivals !== 1 || crossing.answeredAtMs === undefined) return undefined
    return crossing.answeredAtMs - crossing.arrivedAtMs
  }

  /** Returns the script of a request. */
  script({ headers, json }: SeenRequest): Script {
    const crossing = this.#crossings.get(String(headers[MARK_HEADER]))
    if (crossing !== undefined) {
      crossing.arrivals++
      crossing.arrivedAtMs = performance.now()
    }
    const before = { until: this.#think(crossing) }
    const fault = this.#lull ? undefined : this.#fault()
    if (fault !== undefined) return { ...fault, before }
    const text = Array.from({ length: 20 + this.#chance.below(80) }, () => this.#chance.pick(WORDS)).join(' ')
    if (json?.stream !== true) return { kind: 'answer', text, before }
    const writes = { sizes: 'events', between: { delayMs: BETWEEN_EVENTS_MS }, atMost: 12 } as const
    const cut = !this.#lull && this.#chance.happens(0.01) ? { cutAfterBytes: 600 } : {}
    return { kind: 'answer', text, before, writes, ...cut }
  }

  async #think(crossing: Crossing | undefined): Promise<void> {
    await sleep(Math.min(this.#chance.waitMs(THINKS_MS), 10 * THINKS_MS))
    if (crossing !== undefined) crossing.answeredAtMs = performance.now()
  }

  #fault(): ErrorScript | BreakScript | undefined {
    const dice = this.#chance.next()
    if (dice < 0.006) return { kind: 'error', status: 529 }
    if (dice < 0.012) return { kind: 'error', status: 429, headers: { 'retry-after': '1' } }
    if (dice < 0.016) return { kind: 'error', status: 500 }
    if (dice < 0.02) return { kind: 'error', status: 400, message: 'not today' }
    if (dice < 0.024) return { kind: 'break', at: 'before-headers' }
    return undefined
  }
}
