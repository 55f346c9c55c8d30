import type { SpendSums } from 'turnpike/plugin/spend'
import { toUsd } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'
import type { BudgetWindow } from './windows.ts'

/** Window of the budget with its spent and held amounts. */
export type WindowBalance = BudgetWindow & SpendSums

/** Header prefix in the provider's style, for clients that show the provider's limits. */
const PROVIDERS_MANNER = 'anthropic-ratelimit-budget-usd'
const OUR_MANNER = 'x-svc-budget'

/**
 * Returns reply headers with the remaining USD of each period: of the window with the least. Clients of the Messages
 * API get them in the provider's style too.
 */
export function budgetHeaders(
  windows: readonly WindowBalance[],
  { atMs, isMessages }: { atMs: number; isMessages: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const period of ['day', 'month'] as const) {
    const tightest = tightestOf(windows, period)
    if (tightest === undefined) continue
    const figures = {
      limit: String(toUsd(tightest.limitNanoUsd)),
      remaining: String(toUsd(leftIn(tightest))),
      reset: periodOf(period, atMs).resetsAt,
    }
    for (const manner of isMessages ? [OUR_MANNER, PROVIDERS_MANNER] : [OUR_MANNER])
      for (const [name, value] of Object.entries(figures)) headers[`${manner}-${period}-${name}`] = value
  }
  return headers
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
