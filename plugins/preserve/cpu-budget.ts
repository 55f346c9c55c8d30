import { LRUCache } from 'lru-cache'

/** Forgetting a scope forgives what it has used. */
const MOST_SCOPES = 10_000

/** The clock of a budget, in milliseconds. */
export interface BudgetClock {
  nowMs(): number
}

/** The bounds of a budget. */
export interface BudgetBounds {
  /** The part of one CPU that a scope may use in the long run. */
  readonly share: number
  /** CPU that a scope may use before the share counts, in milliseconds. */
  readonly burstMs: number
}

/** CPU that this thread has used, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Bounds the CPU of searches by scope. Searches are charged afterwards; a scope that is over its share waits. */
export class CpuBudget {
  readonly #clock: BudgetClock
  readonly #bounds: BudgetBounds
  /** By scope: the moment at which all that was used is within the share. `max` would allocate for all scopes at once. */
  readonly #paidAtMs = new LRUCache<string, number>({ maxSize: MOST_SCOPES, sizeCalculation: () => 1 })

  constructor(clock: BudgetClock, bounds: BudgetBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** CPU that a scope has used and that its share has not caught up with, in milliseconds. */
  usedMs(scope: string): number {
    return Math.max(0, (this.#paidAtMs.get(scope) ?? 0) - this.#clock.nowMs()) * this.#bounds.share
  }

  /** Milliseconds until a scope may use CPU again; 0 when it may now. */
  waitMs(scope: string): number {
    const { share, burstMs } = this.#bounds
    return Math.max(0, this.usedMs(scope) - burstMs) / share
  }

  /** Charges CPU to a scope, in milliseconds. */
  charge(scope: string, cpuMs: number): void {
    const { share } = this.#bounds
    this.#paidAtMs.set(scope, this.#clock.nowMs() + (this.usedMs(scope) + cpuMs) / share)
  }
}
