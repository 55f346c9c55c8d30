import type { NamedBudget } from '../money/budget-windows.ts'
import type { Scopes } from '../telemetry/telemetry.ts'

/** A budget in use: amounts in its own unit, money in nano-USD. */
export interface BudgetInUse extends NamedBudget {
  /** Limit of the last request. */
  readonly limit: number
  /** Amount by which it has been raised. */
  readonly raised: number
  readonly spent: number
  /** Held for running requests. */
  readonly held: number
  /** Moment of its first request. */
  readonly begunAtMs: number
}

/** A raise: by an amount, or to a limit; in the budget's unit. */
export interface BudgetRaise extends NamedBudget {
  readonly by?: number | undefined
  readonly to?: number | undefined
  /** Scopes of the keys whose budgets may be raised. */
  readonly scopes: Scopes
  /** `user:<id>` or `operator`, for the audit log. */
  readonly actor: string
}

/** Reads and raises budgets of conversations. Every method rejects with `service_unavailable` while the database does not answer. */
export interface Budgets {
  /** Lists the budgets of a conversation, and of the run that it began. */
  list(scopes: Scopes, conversation: string): Promise<BudgetInUse[]>
  /** Raises a budget from the next request on, in all processes; `undefined` when there is none of these scopes. */
  raise(raise: BudgetRaise): Promise<BudgetInUse | undefined>
}
