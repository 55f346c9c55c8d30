import type { Exchange } from 'turnpike/plugin'
import {
  BUDGET_NAMES,
  BUDGETS,
  type BudgetLimits,
  type BudgetName,
  budgetWindow,
  type Cap,
  type Caps,
  type NamedBudget,
  readBudgetWindow,
  type SpendWindow,
} from 'turnpike/plugin/spend'
import { type Period, periodOf } from './calendar.ts'

type Caller = Exchange['caller']
type Conversation = Exchange['conversation']

/** Caps of a request including the caller's own, in whole nano-dollars. */
export interface Budget {
  readonly perRequestNanoUsd: number | undefined
  readonly windows: readonly BudgetWindow[]
  /** Id of the conversation, where it has limits. */
  readonly conversation?: string
  /** Limits of the conversation on other amounts than money. */
  readonly tokens?: readonly ConversationWindow[]
  /** Turns, and the time from the first of them. */
  readonly turns?: readonly ConversationWindow[]
}

/** Window of the ledger: of the calendar, with its name in replies, or of a conversation. */
export type BudgetWindow = CalendarWindow | ConversationWindow

/** Day or month. */
export interface CalendarWindow extends SpendWindow {
  readonly period: Cap['period']
}

/** Window of a conversation, an agent or a run. */
export interface ConversationWindow extends SpendWindow {
  readonly isBudget: true
  readonly budget: NamedBudget
}

/** Caller's caps; the smaller of each pair applies. */
export interface OwnCaps {
  readonly perRequestNanoUsd: number | undefined
  readonly perDayNanoUsd: number | undefined
  readonly perMonthNanoUsd: number | undefined
  readonly budgets?: BudgetLimits
}

/** Returns the windows of a request admitted at this moment, also if it ends after midnight. */
export function budgetOf(caps: Omit<Caps, 'budgets'>, own: OwnCaps & { scope: string }, atMs: number): Budget {
  const windows: CalendarWindow[] = []
  for (const { scope, period, limitNanoUsd } of [...caps.windows, ...ownWindows(own)]) {
    const index = windows.findIndex((known) => known.scope === scope && known.period === period)
    const window = { scope, window: periodOf(period, atMs).window, limitNanoUsd, period }
    if (index < 0) windows.push(window)
    else if (limitNanoUsd < (windows[index]?.limitNanoUsd ?? 0)) windows[index] = window
  }
  return { perRequestNanoUsd: smaller(caps.perRequestNanoUsd, own.perRequestNanoUsd), windows }
}

/** The budget of a caller's caps on a day, and the limits of each of its conversations. */
interface Known {
  readonly caller: Caller
  readonly today: Period
  readonly budget: Budget
  /** Unset: none. */
  readonly limits: BudgetLimits | undefined
}

/** Budgets of callers with caps of a pipeline: each is computed once a day for the same caps of a caller. */
export class Budgets {
  readonly #own: OwnCaps
  readonly #known = new WeakMap<Caps, Known>()

  constructor(own: OwnCaps) {
    this.#own = own
  }

  /** Returns the budget of a request. Its conversation is read only where a limit applies to it. */
  of(exchange: Pick<Exchange, 'caller' | 'conversation'>, caps: Caps, atMs: number): Budget {
    const { caller } = exchange
    const { budget, limits } = this.#ofCaller(caller, caps, atMs)
    return limits === undefined ? budget : withConversation(budget, limits, exchange)
  }

  #ofCaller(caller: Caller, caps: Caps, atMs: number): Known {
    const today = periodOf('day', atMs)
    const known = this.#known.get(caps)
    if (known?.caller === caller && known.today === today) return known
    const budget = budgetOf(caps, { ...this.#own, scope: `key:${caller.scope}` }, atMs)
    const fresh = { caller, today, budget, limits: limitsOf(caps.budgets, this.#own.budgets) }
    this.#known.set(caps, fresh)
    return fresh
  }
}

function limitsOf(one: BudgetLimits, other: BudgetLimits = {}): BudgetLimits | undefined {
  const limits: { [Name in BudgetName]?: number } = {}
  for (const name of BUDGET_NAMES) {
    const limit = smaller(one[name], other[name])
    if (limit !== undefined) limits[name] = limit
  }
  return Object.keys(limits).length === 0 ? undefined : limits
}

function withConversation(
  { perRequestNanoUsd, windows }: Budget,
  limits: BudgetLimits,
  { caller, conversation }: Pick<Exchange, 'caller' | 'conversation'>,
): Budget {
  const own = BUDGET_NAMES.flatMap((name) => {
    const limit = limits[name]
    return limit === undefined ? [] : [windowOf(name, limit, { scope: `key:${caller.scope}`, conversation })]
  })
  const inUnits = (...units: readonly string[]) => own.filter(({ budget }) => units.includes(BUDGETS[budget.name].unit))
  return {
    perRequestNanoUsd,
    conversation: conversation.id,
    windows: [...windows, ...inUnits('usd')],
    tokens: inUnits('tokens'),
    turns: inUnits('turns', 'ms'),
  }
}

function windowOf(
  name: BudgetName,
  limitNanoUsd: number,
  { scope, conversation }: { scope: string; conversation: Conversation },
): ConversationWindow {
  const window = budgetWindow(name, conversation)
  const budget = readBudgetWindow(window) ?? { name, conversation: conversation.id, agent: undefined }
  return { scope, window, limitNanoUsd, isBudget: true, budget }
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
