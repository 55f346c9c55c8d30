import type { SpendSums } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'
import { toUsd } from './refusal.ts'
import type { BudgetWindow } from './windows.ts'

/** A window of the budget with what is spent and held in it. */
export type Standing = BudgetWindow & SpendSums

/** Where the same figures stand for clients that show what the provider tells of its limits. */
const PROVIDERS_MANNER = 'anthropic-ratelimit-budget-usd'
const OUR_MANNER = 'x-svc-budget'

/**
 * Reply headers that tell what is left in each period, in USD: that of the window in which the least is left. Clients of
 * the Messages API are told it in the provider's manner, too.
 */
export function budgetHeaders(
  windows: readonly Standing[],
  { atMs, isMessages }: { atMs: number; isMessages: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const period of ['day', 'month'] as const) {
    const tightest = tightestOf(windows, period)
    if (tightest === undefined) continue
    const told = {
      limit: String(toUsd(tightest.limitNanoUsd)),
      remaining: String(toUsd(leftIn(tightest))),
      reset: periodOf(period, atMs).resetsAt,
    }
    for (const manner of isMessages ? [OUR_MANNER, PROVIDERS_MANNER] : [OUR_MANNER])
      for (const [name, value] of Object.entries(told)) headers[`${manner}-${period}-${name}`] = value
  }
  return headers
}

function tightestOf(windows: readonly Standing[], period: Standing['period']): Standing | undefined {
  let tightest: Standing | undefined
  for (const window of windows)
    if (window.period === period && (tightest === undefined || leftIn(window) < leftIn(tightest))) tightest = window
  return tightest
}

function leftIn({ limitNanoUsd, settledNanoUsd, heldNanoUsd }: Standing): number {
  return Math.max(0, limitNanoUsd - settledNanoUsd - heldNanoUsd)
}
