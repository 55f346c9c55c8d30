import { LRUCache } from 'lru-cache'
import type { Clock } from 'turnpike/plugin'
import type { ScanFigures } from './redaction.ts'

/** Sums of a caller's requests, token counts included, since a moment. */
export interface Report {
  readonly since: string
  readonly requests: number
  /** Requests in which values were found. */
  readonly requests_with_values: number
  /** By kind: requests in which it was found, and their different values, which later turns repeat. */
  readonly kinds: Readonly<Record<string, { readonly requests: number; readonly values: number }>>
  /** Requests by what could not be read. */
  readonly unread: Readonly<Record<string, number>>
  readonly detector_failures: number
}

interface Sums {
  readonly sinceMs: number
  requests: number
  withValues: number
  readonly kinds: Map<string, { requests: number; values: number }>
  readonly unread: Map<string, number>
  detectorFailures: number
}

const MOST_CALLERS = 1000

/** Counts what is found in the requests of each caller, in this process; never a value. */
export class Totals {
  readonly #clock: Clock
  readonly #sums = new LRUCache<string, Sums>({ max: MOST_CALLERS })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds the figures of a request. */
  add(scope: string, { kinds, unread, hasDetectorFailed }: ScanFigures): void {
    const sums = this.#of(scope)
    const found = Object.entries(kinds)
    sums.requests++
    if (found.length > 0) sums.withValues++
    if (hasDetectorFailed) sums.detectorFailures++
    for (const [kind, values] of found) {
      const before = sums.kinds.get(kind) ?? { requests: 0, values: 0 }
      sums.kinds.set(kind, { requests: before.requests + 1, values: before.values + values })
    }
    for (const what of Object.keys(unread)) sums.unread.set(what, (sums.unread.get(what) ?? 0) + 1)
  }

  /** Returns the sums of a caller. */
  report(scope: string): Report {
    const { sinceMs, requests, withValues, kinds, unread, detectorFailures } = this.#of(scope)
    return {
      since: new Date(sinceMs).toISOString(),
      requests,
      requests_with_values: withValues,
      kinds: Object.fromEntries(kinds),
      unread: Object.fromEntries(unread),
      detector_failures: detectorFailures,
    }
  }

  #of(scope: string): Sums {
    const known = this.#sums.get(scope)
    if (known !== undefined) return known
    const sums: Sums = {
      sinceMs: this.#clock.nowMs(),
      requests: 0,
      withValues: 0,
      kinds: new Map(),
      unread: new Map(),
      detectorFailures: 0,
    }
    this.#sums.set(scope, sums)
    return sums
  }
}
