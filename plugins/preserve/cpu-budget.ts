import { LRUCache } from 'lru-cache'

/** Most scopes that are tracked; evicting one forgives its use. */
const MOST_SCOPES = 10_000

/** Clock of a budget, in milliseconds. */
export interface BudgetClock {
  nowMs(): number
}

/** Bounds of a budget. */
export interface BudgetBounds {
  /** Share of one CPU that a scope may use in the long run. */
  readonly share: number
  /** CPU that a scope may use before the share applies, in milliseconds. */
  readonly burstMs: number
}

/** Returns the CPU that this thread has used, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Bounds the CPU of searches by scope. Searches are charged afterwards; a scope over its share waits. */
export class CpuBudget {
  readonly #clock: BudgetClock
  readonly #bounds: BudgetBounds
  /** By scope: the moment at which its use is within the share again. `max` would allocate for all scopes at once. */
  readonly #paidAtMs = new LRUCache<string, number>({ maxSize: MOST_SCOPES, sizeCalculation: () => 1 })

  constructor(clock: BudgetClock, bounds: BudgetBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Returns the CPU of a scope beyond its share, in milliseconds. */
  usedMs(scope: string): number {
    return Math.max(0, (this.#paidAtMs.get(scope) ?? 0) - this.#clock.nowMs()) * this.#bounds.share
  }

  /** Returns the milliseconds until a scope may use CPU again; 0 for now. */
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
