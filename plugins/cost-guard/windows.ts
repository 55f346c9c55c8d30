import type { Cap, Caps, SpendWindow } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'

/** The caps of a request that has been told its own, in whole nano-dollars. */
export interface Budget {
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly BudgetWindow[]
}

/** A window of the ledger, and what it is called in an answer. */
export interface BudgetWindow extends SpendWindow {
  readonly period: Cap['period']
}

/** Tightens what the operator has set: each bound is the smaller of the two. */
export interface OwnCaps {
  readonly perRequestNanoUsd: number | undefined
  readonly perDayNanoUsd: number | undefined
  readonly perMonthNanoUsd: number | undefined
}

/** The windows that a request admitted at this moment belongs to, also if it ends after midnight. */
export function budgetOf(caps: Caps, own: OwnCaps & { scope: string }, atMs: number): Budget {
  const windows: BudgetWindow[] = []
  for (const { scope, period, limitNanoUsd } of [...caps.windows, ...ownWindows(own)]) {
    const index = windows.findIndex((known) => known.scope === scope && known.period === period)
    const window = { scope, window: periodOf(period, atMs).window, limitNanoUsd, period }
    if (index < 0) windows.push(window)
    else if (limitNanoUsd < (windows[index]?.limitNanoUsd ?? 0)) windows[index] = window
  }
  return { perRequestNanoUsd: smaller(caps.perRequestNanoUsd, own.perRequestNanoUsd), windows }
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

function ownWindows({ scope, perDayNanoUsd, perMonthNanoUsd }: OwnCaps & { scope: string }): Cap[] {
  const caps: Cap[] = []
  if (perDayNanoUsd !== undefined) caps.push({ scope, period: 'day', limitNanoUsd: perDayNanoUsd })
  if (perMonthNanoUsd !== undefined) caps.push({ scope, period: 'month', limitNanoUsd: perMonthNanoUsd })
  return caps
}
