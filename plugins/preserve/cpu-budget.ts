import { LRUCache } from 'lru-cache'
import { GatewayError } from 'turnpike/plugin'

/** The part of one CPU that a caller's searches may take in the long run. */
const SHARE = 0.02
/** CPU that a caller who has not searched for long may use before the share counts, in milliseconds. */
const BURST_MS = 500
/** Forgetting a caller forgives what it has used. */
const MOST_CALLERS = 10_000

/** The clock of a budget, in milliseconds. */
export interface BudgetClock {
  nowMs(): number
}

/** CPU that this thread has used, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Bounds the CPU of searches by caller. A search cannot be interrupted, so it is charged afterwards; a caller who has used
 * more than its share waits until the share has caught up.
 */
export class CpuBudget {
  readonly #clock: BudgetClock
  readonly #cpuMs: () => number
  /** By scope: the moment at which all that was used is within the share. */
  readonly #paidAtMs = new LRUCache<string, number>({ max: MOST_CALLERS })

  constructor(clock: BudgetClock, cpuMs: () => number = threadCpuMs) {
    this.#clock = clock
    this.#cpuMs = cpuMs
  }

  /** Does work and charges its CPU to a scope. Throws `rate_limit_error` when the scope has used more than its share. */
  spend<T>(scope: string, work: () => T): T {
    const nowMs = this.#clock.nowMs()
    const paidAtMs = Math.max(nowMs, this.#paidAtMs.get(scope) ?? 0)
    const waitMs = paidAtMs - nowMs - BURST_MS / SHARE
    if (waitMs > 0) throw exhausted(waitMs)
    const begunMs = this.#cpuMs()
    try {
      return work()
    } finally {
      this.#paidAtMs.set(scope, paidAtMs + (this.#cpuMs() - begunMs) / SHARE)
    }
  }
}

function exhausted(waitMs: number): GatewayError {
  return new GatewayError(
    'rate_limit_error',
    'Module `preserve`: the regular expressions of this key have used their CPU. Expected simpler ones, fewer, or shorter texts.',
    { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
  )
}
