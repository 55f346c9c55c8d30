/**
 * DESIGN: windows of budgets
 *
 *   c:<id>           money of a conversation      t:<id>  turns of a conversation
 *   a:<root>:<name>  money of an agent of a run   n:<id>  tokens of a conversation
 *   r:<root>         money of a run               w:<id>  time of a conversation, from its first request
 *
 * A budget's window is named for what it bounds, so it has no calendar: its row begins with the first request, and is deleted
 * 30 days after the last. The scope is that of the key, so no caller can use another's budget up.
 */
export const BUDGETS = {
  per_conversation: { prefix: 'c:', unit: 'usd' },
  per_agent: { prefix: 'a:', unit: 'usd' },
  per_run: { prefix: 'r:', unit: 'usd' },
  turns_per_conversation: { prefix: 't:', unit: 'turns' },
  tokens_per_conversation: { prefix: 'n:', unit: 'tokens' },
  time_per_conversation: { prefix: 'w:', unit: 'ms' },
} as const

/** Name of a budget, as of the option that sets its limit. */
export type BudgetName = keyof typeof BUDGETS

/** Names of the budgets. */
export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[] // safe: its members are those

/** Days for which a budget is kept after its last use. */
export const BUDGET_KEPT_DAYS = 30

/** Conversation of a request, as far as budgets need it. */
export interface BudgetOwner {
  readonly id: string
  readonly rootId: string
  readonly agent: string | undefined
}

/** Returns the name of a conversation's window for a budget. */
export function budgetWindow(name: BudgetName, { id, rootId, agent }: BudgetOwner): string {
  const { prefix } = BUDGETS[name]
  if (name === 'per_agent') return `${prefix}${rootId}:${encodeURIComponent((agent ?? '').toWellFormed())}`
  return prefix + (name === 'per_run' ? rootId : id)
}

/** A budget's window, read. */
export interface NamedBudget {
  readonly name: BudgetName
  /** Id of the conversation; for an agent and a run that of the topmost one. */
  readonly conversation: string
  /** Name of the agent; empty for the main one. Unset for other budgets. */
  readonly agent: string | undefined
}

/** Reads the name of a window; `undefined` for one of the calendar. */
export function readBudgetWindow(window: string): NamedBudget | undefined {
  const name = BUDGET_NAMES.find((each) => window.startsWith(BUDGETS[each].prefix))
  if (name === undefined) return undefined
  const [conversation = '', agent] = window.slice(BUDGETS[name].prefix.length).split(':', 2)
  return { name, conversation, agent: agent === undefined ? undefined : decodeURIComponent(agent) }
}
