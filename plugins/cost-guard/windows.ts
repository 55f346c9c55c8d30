import type { Cap, Caps, SpendWindow } from 'turnpike/plugin'

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

const DAY_CHARACTERS = 10
const MONTH_CHARACTERS = 7

/** The windows that a request admitted at this moment belongs to, also if it ends after midnight. */
export function budgetOf(caps: Caps, own: OwnCaps & { scope: string }, atMs: number): Budget {
  const date = new Date(atMs).toISOString()
  const perRequest = [caps.perRequestNanoUsd, own.perRequestNanoUsd].filter((limit) => limit !== undefined)
  const windows = new Map<string, BudgetWindow>()
  for (const { scope, period, limitNanoUsd } of [...caps.windows, ...ownWindows(own)]) {
    const window = period === 'day' ? `d:${date.slice(0, DAY_CHARACTERS)}` : `m:${date.slice(0, MONTH_CHARACTERS)}`
    const key = `${scope} ${window}`
    const known = windows.get(key)
    if (known === undefined || limitNanoUsd < known.limitNanoUsd)
      windows.set(key, { scope, window, limitNanoUsd, period })
  }
  return {
    perRequestNanoUsd: perRequest.length === 0 ? undefined : Math.min(...perRequest),
    windows: [...windows.values()],
  }
}

function ownWindows({ scope, perDayNanoUsd, perMonthNanoUsd }: OwnCaps & { scope: string }): Cap[] {
  const caps: Cap[] = []
  if (perDayNanoUsd !== undefined) caps.push({ scope, period: 'day', limitNanoUsd: perDayNanoUsd })
  if (perMonthNanoUsd !== undefined) caps.push({ scope, period: 'month', limitNanoUsd: perMonthNanoUsd })
  return caps
}

/** When the window of a moment ends: the next UTC midnight, or the first of the next month. */
export function resetsAt(period: Cap['period'], atMs: number): string {
  const date = new Date(atMs)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)).toISOString()
}
