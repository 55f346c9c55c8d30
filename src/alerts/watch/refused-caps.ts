import { GatewayError } from '../../core/errors.ts'
import { toNanoUsd } from '../../core/money/usd.ts'
import type { RefusedCap } from '../../core/ports/alerts.ts'
import type { RequestRecord } from '../../core/ports/request-record.ts'
import type { Caller } from '../../core/request/caller.ts'

const MOST = 60

/**
 * Remembers caps that refused a request since the last reading: what is left of a cap seldom covers a request, so it is
 * refused before all of it is spent. A refusal names its limit only; each of the caller's windows with that limit is a
 * candidate, of which the reading keeps those that are nearly spent.
 */
export class RefusedCaps {
  readonly #refused = new Map<string, RefusedCap>()

  /** Notes a request that a cap refused; ignores all others. Never throws. */
  note({ error, exchange }: Pick<RequestRecord, 'error' | 'exchange'>, nowMs: number): void {
    if (!(error instanceof GatewayError) || exchange === undefined || this.#refused.size >= MOST) return
    const length = { cost_limit_per_day: 'YYYY-MM-DD'.length, cost_limit_per_month: 'YYYY-MM'.length }[
      error.code as string
    ]
    const limit = error.fields?.limit
    if (length === undefined || typeof limit !== 'number') return
    const window = windowsAt(nowMs).find((name) => name.length === length + 2) ?? ''
    for (const scope of scopesOf(exchange.caller)) {
      const cap = { scope, window, limitNanoUsd: toNanoUsd(limit) }
      this.#refused.set(JSON.stringify(cap), cap)
    }
  }

  /** Returns what was noted, and forgets it. */
  take(): readonly RefusedCap[] {
    const refused = [...this.#refused.values()]
    this.#refused.clear()
    return refused
  }
}

/** Returns the windows of the day and the month, as the ledger names them. */
export function windowsAt(nowMs: number): readonly [day: string, month: string] {
  const text = new Date(nowMs).toISOString()
  return [`d:${text.slice(0, 10)}`, `m:${text.slice(0, 7)}`]
}

function scopesOf({ scope, userId, teamId, tags = [] }: Caller): string[] {
  const owners = [userId && `user:${userId}`, teamId && `team:${teamId}`].filter((owner) => owner !== undefined)
  return [`key:${scope}`, 'instance', ...owners, ...tags.map((tag) => `tag:${tag}`)]
}
