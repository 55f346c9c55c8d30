/** Longest time in which a prefix counts as asked for again soon: the shorter lifetime of the cache. */
export const SOON_MS = 5 * 60_000
/** The same for the longer lifetime. */
export const LATER_MS = 60 * 60_000
/** Observations after which half of them are forgotten, so that changed traffic is noticed. */
const REMEMBERED = 60
const MOST_PENDING = 20_000

/** Odds as they are observed: of those not asked for again soon, the share that is asked for later. */
export interface PriorOdds {
  readonly soon: number
  readonly laterIfNotSoon: number
}

/** Counts of what has come after a prefix. */
export class Tally {
  readonly #soon = new Share()
  /** Counts of those that were not asked for soon. */
  readonly #later = new Share()

  observeSoon(isHit: boolean): void {
    this.#soon.observe(isHit)
  }

  observeLater(isHit: boolean): void {
    this.#later.observe(isHit)
  }

  /** Returns the odds by these counts; `prior` weighs as much as `weight` observations. */
  odds(prior: PriorOdds, weight: number): PriorOdds {
    return {
      soon: this.#soon.estimate(prior.soon, weight),
      laterIfNotSoon: this.#later.estimate(prior.laterIfNotSoon, weight),
    }
  }
}

class Share {
  #count = 0
  #hits = 0

  observe(isHit: boolean): void {
    if (this.#count >= REMEMBERED) {
      this.#count /= 2
      this.#hits /= 2
    }
    this.#count += 1
    if (isHit) this.#hits += 1
  }

  estimate(prior: number, weight: number): number {
    return (this.#hits + weight * prior) / (this.#count + weight)
  }
}

/** A prefix that may be asked for again. */
export interface Pending {
  readonly atMs: number
  readonly tallies: readonly Tally[]
}

/**
 * Prefixes whose continuation is open. One that is asked for again is a hit; after five minutes and after an hour the
 * others are misses. So what is learnt needs no marks, and requests that wait for their next turn are not yet misses.
 */
export class PendingPrefixes {
  /** In the order of time. */
  readonly #young = new Set<Pending>()
  readonly #old = new Set<Pending>()

  /** Adds a prefix that was asked for now. Beyond 20,000, the oldest are forgotten without a result. */
  add(tallies: readonly Tally[], atMs: number): Pending {
    const pending = { atMs, tallies }
    this.#young.add(pending)
    for (const all of [this.#young, this.#old]) {
      const [oldest] = all
      if (all.size > MOST_PENDING && oldest !== undefined) all.delete(oldest)
    }
    return pending
  }

  /** Resolves a prefix that is asked for again; without effect when it is resolved or forgotten. */
  hit(pending: Pending, nowMs: number): void {
    this.sweep(nowMs)
    const isYoung = this.#young.delete(pending)
    if (!isYoung && !this.#old.delete(pending)) return
    for (const tally of pending.tallies) {
      if (isYoung) tally.observeSoon(true)
      else tally.observeLater(true)
    }
  }

  /** Resolves the prefixes whose time is over. */
  sweep(nowMs: number): void {
    for (const pending of this.#young) {
      if (nowMs - pending.atMs <= SOON_MS) break
      this.#young.delete(pending)
      this.#old.add(pending)
      for (const tally of pending.tallies) tally.observeSoon(false)
    }
    for (const pending of this.#old) {
      if (nowMs - pending.atMs <= LATER_MS) break
      this.#old.delete(pending)
      for (const tally of pending.tallies) tally.observeLater(false)
    }
  }
}
