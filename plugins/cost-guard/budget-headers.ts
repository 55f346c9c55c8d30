import type { SpendSums } from 'turnpike/plugin/spend'
import { BUDGETS, roomIn, toUsd } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'
import { capOwner } from './cap-owner.ts'
import type { BudgetWindow, CalendarWindow, ConversationWindow } from './windows.ts'

/** Window of the budget with its spent and held amounts. */
export type WindowBalance = BudgetWindow & SpendSums

type Period = CalendarWindow['period']
/** Day or month of the budget with its amounts. */
export type CalendarBalance = CalendarWindow & SpendSums
type ConversationBalance = ConversationWindow & SpendSums

/** Names of the headers of a period, with one prefix. */
function namesOf(prefix: string, period: Period) {
  const name = `${prefix}-${period}`
  return { limit: `${name}-limit`, remaining: `${name}-remaining`, reset: `${name}-reset`, cap: `${name}-cap` }
}

const bothOf = (period: Period) => ({
  period,
  ours: namesOf('x-svc-budget', period),
  // The provider's style, for clients that show the provider's limits.
  providers: namesOf('anthropic-ratelimit-budget-usd', period),
})
const PERIODS = [bothOf('day'), bothOf('month')]

/**
 * Returns reply headers with the remaining USD of each period, and the cap that leaves it: of the window with the least.
 * Clients of the Messages API get the amounts in the provider's style too.
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
    headers[ours.cap] = capOwner(tightest.scope).cap
    for (const names of isMessages ? [ours, providers] : [ours]) {
      headers[names.limit] = limit
      headers[names.remaining] = remaining
      headers[names.reset] = resetsAt
    }
  }
  for (const window of windows) if ('budget' in window) Object.assign(headers, conversationHeaders(window))
  return headers
}

/** Returns `x-svc-budget-conversation-limit` and `-remaining`, likewise of `agent`, `run`, `turns`, `tokens`; time has none. */
function conversationHeaders(window: ConversationBalance): Record<string, string> {
  const { name } = window.budget
  const { unit } = BUDGETS[name]
  if (unit === 'ms') return {}
  const of = `x-svc-budget-${unit === 'usd' ? name.slice('per_'.length) : unit}`
  const shown = (amount: number) => String(unit === 'usd' ? toUsd(amount) : amount)
  const { limitNanoUsd, raisedNanoUsd = 0 } = window
  return { [`${of}-limit`]: shown(limitNanoUsd + raisedNanoUsd), [`${of}-remaining`]: shown(leftIn(window)) }
}

/** Returns the remainder of the window with the least, in nano-USD; infinite without windows. */
export function leastLeft(windows: readonly WindowBalance[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const window of windows) least = Math.min(least, leftIn(window))
  return least
}

/** Returns the calendar window of a period with the least left. */
export function tightestOf(windows: readonly WindowBalance[], period: Period): CalendarBalance | undefined {
  let tightest: CalendarBalance | undefined
  for (const window of windows)
    if ('period' in window && window.period === period && (tightest === undefined || leftIn(window) < leftIn(tightest)))
      tightest = window
  return tightest
}

/** Returns what is neither spent nor held, in the window's unit; at least 0. */
export function leftIn(window: WindowBalance): number {
  return Math.max(0, roomIn(window))
}
