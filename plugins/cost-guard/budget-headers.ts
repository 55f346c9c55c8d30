import type { SpendSums } from 'turnpike/plugin/spend'
import { toUsd } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'
import type { BudgetWindow } from './windows.ts'

/** Window of the budget with its spent and held amounts. */
export type WindowBalance = BudgetWindow & SpendSums

/** Names of the headers of a period, with one prefix. */
function namesOf(prefix: string, period: WindowBalance['period']) {
  const name = `${prefix}-${period}`
  return { limit: `${name}-limit`, remaining: `${name}-remaining`, reset: `${name}-reset` }
}

const bothOf = (period: WindowBalance['period']) => ({
  period,
  ours: namesOf('x-svc-budget', period),
  // The provider's style, for clients that show the provider's limits.
  providers: namesOf('anthropic-ratelimit-budget-usd', period),
})
const PERIODS = [bothOf('day'), bothOf('month')]

/**
 * Returns reply headers with the remaining USD of each period: of the window with the least. Clients of the Messages
 * API get them in the provider's style too.
 */
export function budgetHeaders(
  windows: readonly WindowBalance[],
  { atMs, isMessages }: { atMs: number; isMessages: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { period, ours, providers } of PERIODS) {
    const tightest = tightestOf(windows, period)
    if (tightest === undefined) continue
    const limit = String(toUsd(tightest.limitNanoUsd))
    const remaining = String(toUsd(leftIn(tightest)))
    const { resetsAt } = periodOf(period, atMs)
    for (const names of isMessages ? [ours, providers] : [ours]) {
      headers[names.limit] = limit
      headers[names.remaining] = remaining
      headers[names.reset] = resetsAt
    }
  }
  return headers
}

/** Returns the remainder of the window with the least, in nano-USD; infinite without windows. */
export function leastLeft(windows: readonly WindowBalance[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const window of windows) least = Math.min(least, leftIn(window))
  return least
}

function tightestOf(windows: readonly WindowBalance[], period: WindowBalance['period']): WindowBalance | undefined {
  let tightest: WindowBalance | undefined
  for (const window of windows)
    if (window.period === period && (tightest === undefined || leftIn(window) < leftIn(tightest))) tightest = window
  return tightest
}

function leftIn({ limitNanoUsd, settledNanoUsd, heldNanoUsd }: WindowBalance): number {
  return Math.max(0, limitNanoUsd - settledNanoUsd - heldNanoUsd)
}
