import type { Exchange } from 'turnpike/plugin'
import type { Cap, Caps, SpendWindow } from 'turnpike/plugin/spend'
import { type Period, periodOf } from './calendar.ts'

type Caller = Exchange['caller']

/** Caps of a request including the caller's own, in whole nano-dollars. */
export interface Budget {
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly BudgetWindow[]
}

/** Window of the ledger, and its name in replies. */
export interface BudgetWindow extends SpendWindow {
  readonly period: Cap['period']
}

/** Caller's caps; the smaller of each pair applies. */
export interface OwnCaps {
  readonly perRequestNanoUsd: number | undefined
  readonly perDayNanoUsd: number | undefined
  readonly perMonthNanoUsd: number | undefined
}

/** Returns the windows of a request admitted at this moment, also if it ends after midnight. */
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

/** Budgets of callers with caps of a pipeline: each is computed once a day for a caller whose caps stay the same. */
export class Budgets {
  readonly #own: OwnCaps
  readonly #known = new WeakMap<Caller, { readonly caps: Caps; readonly today: Period; readonly budget: Budget }>()

  constructor(own: OwnCaps) {
    this.#own = own
  }

  of(caller: Caller, caps: Caps, atMs: number): Budget {
    const today = periodOf('day', atMs)
    const known = this.#known.get(caller)
    if (known?.caps === caps && known.today === today) return known.budget
    const budget = budgetOf(caps, { ...this.#own, scope: `key:${caller.scope}` }, atMs)
    this.#known.set(caller, { caps, today, budget })
    return budget
  }
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
